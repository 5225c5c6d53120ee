import type { History, LogEntry } from '../history.ts';
import type { Violation } from './violation.ts';

const violation = (kind: Violation['kind'], what: string): Violation => ({
  invariant: 'consequences',
  kind,
  what,
});

/**
 * The comments of a deleted article end, once each, because of that deletion. Nothing else follows from the
 * requests of the clients.
 */
export const consequenceViolations = ({ log }: Pick<History, 'log'>): readonly Violation[] => {
  const byId = new Map(log.map((entry) => [entry.id, entry]));
  const ended = Map.groupBy(
    log.filter(({ type }) => type === 'comment.deleted'),
    ({ stream }) => stream,
  );
  const deletions = new Map(
    log.filter(({ type }) => type === 'article.deleted').map((entry) => [entry.stream, entry]),
  );
  return [
    ...log.filter(({ isConsequence }) => isConsequence).flatMap((entry) => causeViolations(entry, byId)),
    ...[...ended]
      .filter(([, ends]) => ends.length > 1)
      .map(([stream, ends]) => violation('duplicated', `${stream} ended ${ends.length} times`)),
    ...log
      .filter(({ type, stream }) => type === 'comment.added' && !ended.has(stream))
      .flatMap(({ stream, data }) => {
        const deletion = deletions.get(`article-${data.articleId}`);
        return deletion === undefined
          ? []
          : [violation('lost', `${stream} did not end with ${deletion.stream} at ${deletion.position}`)];
      }),
  ];
};

const causeViolations = (
  { type, stream, position, causation, data }: LogEntry,
  byId: ReadonlyMap<string, LogEntry>,
): readonly Violation[] => {
  const cause = byId.get(causation ?? '');
  if (cause === undefined) return [violation('other', `${type} of ${stream} follows from no event`)];
  if (cause.position >= position)
    return [violation('reordered', `${type} of ${stream} comes before its cause at ${cause.position}`)];
  const isRight =
    type === 'comment.deleted' &&
    cause.type === 'article.deleted' &&
    cause.stream === `article-${data.articleId}`;
  return isRight ? [] : [violation('other', `${type} of ${stream} does not follow from ${cause.type}`)];
};
