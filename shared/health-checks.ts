/** Resolves if the component can work; the signal aborts once nobody waits any more. */
export type HealthCheck = (signal: AbortSignal) => Promise<unknown>;

/** The checks of a process, to which a component adds its own. */
export type HealthChecks = {
  /** An optional check is shown, but does not affect readiness. */
  add(name: string, run: HealthCheck, options?: { readonly isRequired?: boolean }): void;
};
