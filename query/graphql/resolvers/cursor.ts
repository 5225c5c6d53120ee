import { type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';
import type { Cursor } from '#kernel/base/cursor.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { START } from '#shared/event-log/event-log.ts';
import { cursorOf, type NamingLog } from '#shared/event-log/own-cursor.ts';
import { readCheckpoint } from '#shared/follower/checkpoint.ts';
import { readFailureOf } from '../../rows/statement.ts';
import { fragmentsOf } from '../documents/measure.ts';
import type { Runnable } from '../documents/run.ts';

/** True if an operation asks for the cursor of its answer. */
export const asksForCursor = ({ prepared: { document }, operation: { node } }: Runnable): boolean =>
  hasCursor(node.selectionSet, fragmentsOf(document));

/** The position of the read model. Everything read after this includes the events up to there. */
export const readCursor = async (pool: Pool, eventLog: NamingLog): Promise<Cursor> => {
  const checkpoint = await readCheckpoint(pool, PROJECTOR).catch((cause: unknown) => {
    if (isUndefinedTable(cause)) return undefined;
    throw readFailureOf(cause);
  });
  const { position, event } = checkpoint?.log === eventLog.identity ? checkpoint : NOTHING;
  return cursorOf(eventLog, position, event ?? undefined);
};

const NOTHING = { position: START, event: null } as const;

const hasCursor = (
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): boolean =>
  selections.some((selection) => {
    if (selection.kind === Kind.FIELD) return selection.name.value === 'cursor';
    const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
    return inner !== undefined && hasCursor(inner.selectionSet, fragments);
  });
