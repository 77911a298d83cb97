"""The retrieval debugger: both rankings of a query and their fusion, without the graph."""

from __future__ import annotations

from ..tools.analyze import terms
from ..tools.answer import Hit, Search
from ..tools.evidence import Reading
from ..tools.rank import Fused, fuse
from .asking import Seat
from .library import CorpusLibrary
from .settings import Settings


def retrieve(seat: Seat, query: str, k: int, settings: Settings) -> Search:
    """Return the k best passages of the fused ranking with their place in each ranking."""
    depth = max(k, settings.search.depth)
    found = {"keyword": dict(seat.reader.keyword(terms(query), depth))}
    if seat.encoder is not None:
        found["vector"] = dict(seat.reader.vector(seat.encoder.encode_query(query), depth))
    fused = fuse({name: list(scores) for name, scores in found.items()}, k=settings.search.fusion_k)[:k]
    readings = seat.reader.readings([item.id for item in fused])
    hits = tuple(_hit(item, found, readings[item.id]) for item in fused if item.id in readings)
    notes = CorpusLibrary(seat.reader, seat.encoder).corpus_notes()
    # Which engine it was would tell others whether they see everything.
    engine = seat.reader.engine if seat.access.is_owner else None
    return Search(query, hits, notes, seat.reader.revision, engine)


def _hit(item: Fused, found: dict[str, dict[int, float]], reading: Reading) -> Hit:
    return Hit(
        reading=reading,
        score=item.score,
        ranks={name: item.ranks.get(name) for name in ("keyword", "vector")},
        scores={name: found.get(name, {}).get(item.id) for name in ("keyword", "vector")},
    )
