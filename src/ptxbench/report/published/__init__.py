"""What others published: headline figures, facts about models and when PTX was documented, each with its source."""

from ptxbench.report.published.exposure import Exposure, exposure_table
from ptxbench.report.published.headlines import Headline, HeadlineSource, disagreements, headlines, reference_lines
from ptxbench.report.published.models import ModelFacts, find_model, models

__all__ = [
    "Exposure", "Headline", "HeadlineSource", "ModelFacts", "disagreements", "exposure_table", "find_model", "headlines", "models",
    "reference_lines",
]  # fmt: skip
