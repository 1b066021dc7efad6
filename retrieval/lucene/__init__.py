"""Lucene indexes, searched by Anserini's Java classes. Imports `retrieval`; Java starts on use."""
