"""What a recorded run would have cost under another policy, with no call made: `predict` for one, `ladder` for many."""

from lib.usage.what_if.ladder import ladder
from lib.usage.what_if.policy import Exchange, Policy, Predicted, WhatIf
from lib.usage.what_if.predict import predict

__all__ = ["Exchange", "Policy", "Predicted", "WhatIf", "ladder", "predict"]
