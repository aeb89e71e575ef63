/**
 * Makes a method of a port that does all its work in one synchronous step, after the caller's own step: other calls
 * happen before or after it, never in between, and its effect is visible only to callers who wait. If `work` throws,
 * the promise rejects.
 */
export const atomic =
  <A extends readonly unknown[], R>(work: (...args: A) => R): ((...args: A) => Promise<R>) =>
  (...args) =>
    Promise.resolve().then(() => work(...args))
