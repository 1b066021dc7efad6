"""`Save: SVG PNG CSV LaTeX`: what each file holds is what the page shows."""

import base64
import csv
import io
import re
from xml.etree import ElementTree

import pytest

NS = "{http://www.w3.org/2000/svg}"
# A browser refuses more than ten files in a second, so each is caught where it is handed over.
SAVED = """async () => {
  const blobs = [];
  const files = [];
  const handOver = URL.createObjectURL;
  URL.createObjectURL = (blob) => { blobs.push(blob); return handOver(blob); };
  HTMLAnchorElement.prototype.click = function click() { files.push({ name: this.download }); };
  const bytes = (blob) => new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result.split(",")[1]);
    reader.readAsDataURL(blob);
  });
  for (const saves of document.querySelectorAll("main .saves")) {
    if (!saves.checkVisibility()) continue;
    const figure = saves.closest("figure.table");
    const head = figure?.querySelector("thead");
    for (const button of saves.querySelectorAll("button")) {
      const n = files.length;
      button.click();
      for (let i = 0; i < 200 && files.length === n; i += 1)
        await new Promise((done) => setTimeout(done, 10));
      const file = files[n];
      Object.assign(file, {
        kind: button.textContent, bytes: await bytes(blobs.at(-1)),
        heads: figure && !figure.querySelector(".matrix, .ratings") && head
          ? [...head.querySelectorAll("th button")].map((b) => b.textContent) : null,
        n: figure?.querySelectorAll("tbody tr:not(.cut)").length ?? null,
        first: figure?.querySelector("tbody th")?.textContent ?? null,
        isPaged: figure?.querySelector(".pages:not([hidden])") !== null });
    }
  }
  return files;
}"""
# The PNG drawn again, and how many of its pixels are not white.
DECODED = """async (data) => {
  const image = new Image();
  image.src = `data:image/png;base64,${data}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data: pixels } = context.getImageData(0, 0, image.width, image.height);
  let n = 0;
  for (let i = 0; i < pixels.length; i += 4)
    if (pixels[i] + pixels[i + 1] + pixels[i + 2] < 720) n += 1;
  return [image.width, image.height, n];
}"""
ESCAPED = re.compile(
    r"\\(?:textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar|textquotedbl)\{\}"
)


def saved(it):
    files = it.page.evaluate(SAVED)
    assert files
    for file in files:
        file["bytes"] = base64.b64decode(file["bytes"])
    return files


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_saved_is_what_is_shown(opened, reports, scheme):
    check(opened(reports("demo"), color_scheme=scheme))


def test_everything_is_saved_of_every_kind_of_results(opened, report):
    check(opened(report))


def check(it):
    files = saved(it)
    check_pictures(it, files)
    check_tables(files)
    names = [file["name"] for file in files]
    assert len(names) == len({*names}), "two files of one name"
    assert {file["kind"] for file in files} == {"SVG", "PNG", "CSV", "LaTeX"}
    assert it.misdeeds() == []


def check_pictures(it, files):
    size = None
    for file in files:
        if file["kind"] == "SVG":
            root = ElementTree.fromstring(file["bytes"])
            text = file["bytes"].decode()
            assert root.find(f"{NS}title").text, file["name"]
            assert not re.search(
                r"var\(|class=|currentcolor|https?://(?!www\.w3\.org)", text, re.I
            ), file["name"]
            colours = [
                int(one[i : i + 2], 16)
                for one in re.findall(r'<text[^>]*fill="#(\w{6})"', text)
                for i in (0, 2, 4)
            ]
            assert colours
            assert min(colours) < 128, f"{file['name']}: no dark letters"
            assert any(node.text for node in root.iter(f"{NS}text"))
            size = float(root.get("width")), float(root.get("height"))
            if file["first"]:
                words = re.sub(
                    r"\W", "", "".join("".join(node.itertext()) for node in root.iter(f"{NS}text"))
                )
                assert re.sub(r"\W", "", file["first"])[:5] in words, file["name"]
        if file["kind"] == "PNG":
            data = base64.b64encode(file["bytes"]).decode()
            width, height, n_dark = it.page.evaluate(DECODED, data)
            assert (width, height) == (2 * size[0], 2 * size[1])
            assert n_dark > 100, file["name"]


def check_tables(files):
    rows = []
    for file in files:
        text = file["bytes"].decode() if file["kind"] in ("CSV", "LaTeX") else ""
        if file["kind"] == "CSV":
            assert text.endswith("\r\n")
            head, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
            assert all(len(row) == len(head) for row in rows), file["name"]
            assert not [
                one for row in rows for one in row if re.match(r"[=+@\t\r]|-(?![\d.])", one)
            ]
            if file["heads"]:
                assert [one for one in head if one in file["heads"]] == file["heads"], file["name"]
                assert len(rows) == file["n"] or file["isPaged"], file["name"]
        if file["kind"] == "LaTeX":
            lines = text.splitlines()
            assert [lines[i] for i in (0, 4, 6)] == [
                r"\begin{table}", r"\toprule", r"\midrule",
            ]  # fmt: skip
            sides = re.fullmatch(r"\\begin\{tabular\}\{([lr]+)\}", lines[3])[1]
            body = [lines[5], *lines[7 : lines.index(r"\bottomrule")]]
            assert len(body) == len(rows) + 1, file["name"]
            for line in body:
                assert line.endswith(r" \\")
                plain = (
                    ESCAPED.sub("", line.removesuffix(r" \\"))
                    .replace("$-$", "")
                    .replace(r"$\pm$", "")
                )
                assert len(re.findall(r"(?<!\\)&", plain)) == len(sides) - 1, (file["name"], line)
                assert not re.search(r"(?<!\\)[%$#_{}~^]", plain), (file["name"], line)


def test_a_file_is_named_by_folder_section_and_measure(opened, reports):
    it = opened(reports("demo"), "length?measure=V")
    with it.page.expect_download(timeout=15_000) as caught:
        it.page.locator("#length .saves").first.get_by_role("button", name="CSV").click()
    assert caught.value.suggested_filename == "demo-length-plot-V.csv"


def test_the_heat_map_is_saved_as_its_cells(opened, reports):
    it = opened(reports("demo"), "topics?measure=V_strict")
    with it.page.expect_download(timeout=15_000) as caught:
        it.page.locator("#topics .saves").first.get_by_role("button", name="SVG").click()
    root = ElementTree.fromstring(caught.value.path().read_bytes())
    texts = {"".join(node.itertext()) for node in root.iter(f"{NS}text")}
    assert {"complete", "miscited", "factdump", "thin", "mean"} <= texts
    tones = {node.get("fill") for node in root.iter(f"{NS}rect")}
    assert len(tones) > 3, "no colours"
