const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_STEP_MS = 100;
const RECONNECT_MAX_MS = 1_000;

/** A connection whose server has been silent for this long is closed and opened again. */
export const SILENCE_MAX_MS = 5_000;

/** Options of every connection to Redis. */
export const REDIS_CONNECTION = {
  connectTimeout: CONNECT_TIMEOUT_MS,
  retryStrategy: (attempt: number) => Math.min(attempt * RECONNECT_STEP_MS, RECONNECT_MAX_MS),
  // After a failover the former primary may keep its connections as a replica; the name leads to the new
  // primary.
  reconnectOnError: ({ message }: Error) => message.includes('READONLY'),
};
