import type { Position } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { createChangeReader } from '#shared/change-stream/changes.ts';
import type { ChangeToPublish, Publication } from '#shared/change-stream/publication.ts';
import { type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { Notifier } from '#shared/notifier.ts';
import { openReadPosition, type ReadPosition } from '#shared/read-model/read-position.ts';
import { NO_TRACING, type Span, type Tracing } from '#shared/tracing/tracing.ts';

export type PublisherDependencies = Pick<
  FollowerOptions,
  'pool' | 'eventLog' | 'log' | 'metrics' | 'clock'
> & {
  readonly keys: KeyStore;
  readonly domain: Domain;
  /** Notifies when the read model has moved on. */
  readonly notifier: Notifier;
  /** The caller disposes it after the publisher. */
  readonly publication: Publication;
  /** Off by default. */
  readonly tracing?: Tracing;
};

/**
 * Publishes changes in the order of the log, in one process at a time, and never ahead of the read model. The
 * checkpoint moves once the broker has acknowledged them. After a crash some are published again; subscribers
 * recognize them by position.
 */
export const startPublisher = async (dependencies: PublisherDependencies): Promise<AsyncDisposable> => {
  const { pool, eventLog, notifier, publication, log, metrics, clock, tracing = NO_TRACING } = dependencies;
  await using opening = new AsyncDisposableStack();
  const readPosition = opening.use(openReadPosition({ pool, eventLog, notifier, clock }));
  const reader = createChangeReader(dependencies);
  let session: Session | undefined;
  const act = async (events: readonly RecordedEvent[], signal: AbortSignal): Promise<void> => {
    const last = events.at(-1)?.position ?? START;
    // Comes first, because only then is it known what is parked.
    if (!(await isRead(readPosition, last, signal))) return;
    session = session && isContinued(session, events, signal) ? session : beginSession(events, signal);
    const { changes, ended } = tracePublishing(
      tracing,
      (await reader.toPage(events, session.passed)).changes,
    );
    const correlations = new Map(
      events.map(({ position, metadata }) => [position, String(metadata.$correlationId ?? '')]),
    );
    const toPublish: ChangeToPublish[] = [];
    let { published: previous } = session;
    for (const change of changes) {
      toPublish.push({ change, previous, correlation: correlations.get(change.position) ?? '' });
      previous = change.position;
    }
    await publication.publish(toPublish, signal);
    // An interrupted batch is published again by the next leader.
    if (!signal.aborted) ended();
    session = { signal, published: previous, passed: last };
  };
  // Not required for readiness: without it, subscribers follow the log.
  const following = { pool, eventLog, log, metrics, clock, act };
  opening.use(await startFollower({ name: PUBLISHER, isRequired: false, ...following }));
  const resources = opening.move();
  return { [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** Spans of subscribers follow from the span of publishing. */
const tracePublishing = (
  tracing: Tracing,
  changes: readonly Change[],
): { readonly changes: readonly Change[]; ended(): void } => {
  if (!tracing.isOn) return { changes, ended: () => {} };
  const spans: Span[] = [];
  const publish = (change: Change): Change => {
    if (change.trace === undefined) return change;
    const attributes = { 'annals.event.id': change.id, 'annals.event.type': change.type };
    const span = tracing.start('publish', { parent: change.trace, kind: 'producer', attributes });
    spans.push(span);
    return { ...change, trace: span.traceparent };
  };
  return { changes: changes.map(publish), ended: () => spans.forEach((span) => void span.end()) };
};

/** The name of the follower with the checkpoint of publishing. */
const PUBLISHER = 'publisher';

/**
 * The last change published under this lease. Another leader may have published before, so only what this one
 * reads itself is known to be without gaps.
 */
type Session = {
  readonly signal: AbortSignal;
  readonly published: Position;
  /** The position of the last event, whether or not it was a change. */
  readonly passed: Position;
};

/** If a checkpoint could not be saved, events are read again. */
const isContinued = (session: Session, [first]: readonly RecordedEvent[], signal: AbortSignal): boolean =>
  session.signal === signal && session.passed < (first?.position ?? START);

const beginSession = ([first]: readonly RecordedEvent[], signal: AbortSignal): Session => {
  const before = ((first?.position ?? 1) - 1) as Position;
  return { signal, published: before, passed: before };
};

const TIMEOUT_MS = 30_000;

/** Waits until the projector has reached the position; false if aborted. */
const isRead = async (
  readPosition: ReadPosition,
  position: Position,
  signal: AbortSignal,
): Promise<boolean> => {
  while (!signal.aborted && !(await readPosition.reaches(position, TIMEOUT_MS, signal)));
  return !signal.aborted;
};
