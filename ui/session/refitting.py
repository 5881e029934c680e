"""The models of a reopened session, fitted again one after the other as a job.

The job can be stopped and taken up, and ends itself when nobody looks, as every job does. Models
are handed over as they are done; what is not done stays a recipe, and is saved as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hipad.exceptions import HipadError
from hipad.solvers import Progress
from ui.dataset import Dataset
from ui.jobs import Job, Run
from ui.models import Request, TrainedModel
from ui.session.saving import ModelRecipe

MOST_STEPS: Final = 100_000  # of all fits together, before the user is asked whether to go on


class Refits:
    """The fits of some recipes in a row, as one run."""

    def __init__(self, data: Dataset, recipes: tuple[ModelRecipe, ...]) -> None:
        self.data, self.recipes, self.steps = data, recipes, 0
        self.done: list[TrainedModel] = []
        self.failed: dict[str, str] = {}
        self._at = 0
        self._fit: tuple[Request, Run] | None = None

    @property
    def left(self) -> tuple[ModelRecipe, ...]:
        """What is not fitted yet."""
        return self.recipes[self._at :]

    def __iter__(self) -> Iterator[Progress]:
        return self

    def __next__(self) -> Progress:
        while self.left and self.steps < MOST_STEPS:
            try:
                if (progress := self._step()) is not None:
                    self.steps += 1
                    return progress
            except HipadError as error:
                self.failed[self.left[0].name] = str(error)
            self._at, self._fit = self._at + 1, None
        raise StopIteration

    def stop(self) -> None:
        """Nothing to do: the fit under way stays as it is, ready for its next step."""

    def resume(self) -> None:
        """Allow as many steps again."""
        self.steps = 0

    def finish(self) -> None:
        """Nothing to make: models are in `done` as soon as they are fitted."""

    def _step(self) -> Progress | None:
        """One step of the fit under way; None when it has ended and its model is there."""
        request, run = self._fit = self._fit or self._begin(self.left[0])
        progress = next(run, None)
        if progress is None:
            self.done.append(request.model(run.finish()))
        return progress

    def _begin(self, recipe: ModelRecipe) -> tuple[Request, Run]:
        request = recipe.request(self.data)
        return request, request.start(self.done[-1] if self.done else None)


class Refitting:
    """The job that fits them, and what it has to show; `pinned` names the model to pin."""

    def __init__(self, data: Dataset, recipes: tuple[ModelRecipe, ...], pinned: str = "") -> None:
        self.fits = Refits(data, recipes)
        self.pinned = pinned
        self.job: Job[None] = Job(lambda: self.fits, lambda nothing: nothing)
        self._taken = 0

    @property
    def total(self) -> int:
        """How many models there are to fit, done or not."""
        return len(self.fits.recipes)

    @property
    def owed(self) -> tuple[ModelRecipe, ...]:
        """What was not handed over yet: not fitted, or fitted since the last look."""
        given = {model.name for model in self.fits.done[: self._taken]}
        gone = given | set(self.fits.failed)
        return tuple(recipe for recipe in self.fits.recipes if recipe.name not in gone)

    def go_on(self) -> None:
        """Start, or start again after an end with models left."""
        self.job.launch()

    def arrived(self) -> list[TrainedModel]:
        """The models that were done since the last call."""
        models = self.fits.done[self._taken :]
        self._taken += len(models)
        return models
