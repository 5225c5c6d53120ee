/**
 * Measured figures of one cell on two shared cores, from docs/scaling.md and docs/performance.md. Replace them
 * with your own.
 */
export const MEASURED = {
  /** Catch-up and rebuild: 15,100 to 19,700 on a quiet machine, 8,600 to 12,100 beside other load. */
  projectedPerSecond: 12_000,
  /** `audit verify`. */
  verifiedPerSecond: 13_000,
  /** As `log export` reads. */
  readPerSecond: 10_000,
  /** As `log import` writes. `log copy --streams` was not measured by itself. */
  copiedPerSecond: 8_700,
  /** Node, all roles: a REST write at 32 connections, and reading an item. */
  nodeMsPerWrite: 0.448,
  nodeMsPerRead: 0.123,
  /** PostgreSQL: the append of one event, and its projection. */
  postgresMsPerWrite: 0.133 + 0.051,
  /**
   * Log 740, read model 830, process manager 100, chain 40, each with its indexes, without the index of
   * events: 6,000 published articles of 300 characters with a comment of 100 (18,000 events), after
   * `vacuum full`.
   */
  bytesPerEvent: 1_700,
} as const;

/** Assumptions that nobody has measured. Replace them with the behaviour of your clients. */
export const ASSUMED = {
  readsPerWrite: 10,
  /** From refusing the writes of a tenant to taking them again: ROUTER_DRAIN of 5 s, and the rest of the copy. */
  pauseSeconds: 7,
  /** PostgreSQL for one read; its other followers for one write: index of events, chain, deliveries. */
  postgresMsPerRead: 0.05,
  postgresMsPerFollowedWrite: 0.2,
  /** The busiest hour against the mean one. */
  peakFactor: 4,
  /** More than this of the processors is too much for the busiest cell at its peak. */
  utilisationMax: 0.6,
  /** Of PostgreSQL's files beside what they hold: free space, write-ahead log. */
  diskFactor: 1.5,
} as const;

/**
 * Assumed prices in the order of general-purpose instances on demand and of SSD storage, as of November 2026.
 * They are those of no provider: put your own here.
 */
export const PRICES = {
  asOf: '2026-11',
  instances: [
    { name: '2 vCPU, 8 GiB', vcpus: 2, dollarsPerHour: 0.1 },
    { name: '4 vCPU, 16 GiB', vcpus: 4, dollarsPerHour: 0.2 },
    { name: '8 vCPU, 32 GiB', vcpus: 8, dollarsPerHour: 0.4 },
    { name: '16 vCPU, 64 GiB', vcpus: 16, dollarsPerHour: 0.8 },
  ],
  dollarsPerGigabyteMonth: 0.1,
  /** One for the roles, one for PostgreSQL, one for its standby. */
  instancesPerCell: 3,
  /** Of PostgreSQL and its standby. */
  disksPerCell: 2,
} as const;
