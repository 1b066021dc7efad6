"""Lucene indexes, searched by Anserini's Java classes, which start on use. Imports `retrieval`
and records; `programs.pipelines` may import it."""
