"""Scripts by which a test watches a page."""

# Before any script of the page: what the policy refuses is written down.
REFUSED = """addEventListener('securitypolicyviolation', (event) =>
  (window.refused ??= []).push(`${event.violatedDirective} refused ${event.blockedURI}`));"""

STILL = """() => new Promise((done) => {
  const end = () => { seen.disconnect(); done(); };
  let timer = setTimeout(end, 25);
  const seen = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(end, 25); });
  seen.observe(document.body, { childList: true, subtree: true, attributes: true });
})"""
