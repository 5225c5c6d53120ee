/**
 * The prefix of new logs. It is a constant, not derived from the database: an installation whose database was
 * lost or mistyped must find its log there and be refused, not begin an empty one beside it.
 */
export const DEFAULT_LOG_PREFIX = 'annals';

/** The form of EVENT_LOG_PREFIX, as a regular expression. */
export const LOG_PREFIX_FORM = '[a-z][a-z0-9_]{0,39}';
