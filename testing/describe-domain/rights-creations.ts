import type { Kind, Row } from '#kernel/registry/registry.ts';
import { type Attempt, freshBody } from './attempts.ts';
import { cellsOf, checkCell, type Matrix, newState, scopeOf, WAYS } from './rights-cells.ts';
import { expectingOf, scopeIn } from './rights-expected.ts';
import { LATE } from './rights-outcomes.ts';
import { openSeenRows } from './seen-rows.ts';
import { type Actor, isCrowded, requestOf } from './stage.ts';

/** New aggregates under no other. */
export const checkCreations = async (matrix: Matrix, kind: Kind): Promise<void> => {
  const { stage, callers } = matrix;
  const seenRows = openSeenRows(stage);
  const expecting = expectingOf(stage, seenRows);
  for (const command of Object.values(kind.commands)) {
    if (command.kind !== 'create' || command.internal) continue;
    const [method, path] = requestOf(stage.domain, kind, command, {});
    const body = (by?: Actor) => freshBody(stage, kind, command, { by });
    const name = `${command.name} of ${kind.name}`;
    const attempt: Attempt = { name, kind, command, does: 'create', method, path, on: path, body };
    const scope = scopeOf(attempt);
    for (const caller of [...callers.actors, await callers.without(scope), await callers.only(scope)])
      for (const way of WAYS)
        for (const cell of cellsOf({ callers }, { attempt, caller, body: await body(caller) })) {
          const state = await newState(stage, seenRows, { kind, body: cell.body, caller });
          const wanted = expecting.create(caller, { kind, name: command.name, state });
          const isAlone = caller.scopes.size === 1;
          const isRoom = wanted !== 'allowed' || !isCrowded(stage.domain);
          if (wanted !== undefined && (way === 'REST' || (!isAlone && isRoom)))
            await checkCell(matrix, cell, { wanted, way });
        }
    await checkNext(matrix, attempt);
  }
};

/** A creation that does more at once needs the scope of that as well. */
const checkNext = async (matrix: Matrix, attempt: Attempt): Promise<void> => {
  const { kind, command } = attempt;
  for (const next of command.next) {
    const scope = scopeIn(kind, next);
    if (scope === scopeOf(attempt)) continue;
    const caller = await matrix.callers.without(scope);
    const body = { ...((await attempt.body()) as Row), [next]: true };
    const cell = {
      attempt,
      caller,
      body,
      id: undefined,
      scope,
      what: `${attempt.name} with ${next} by ${caller.key}`,
    };
    await checkCell(matrix, cell, { wanted: 'insufficient_scope', way: 'REST' });
    // The schema does not say which scope the value of a field needs.
    await checkCell(matrix, cell, { wanted: LATE, way: 'GraphQL' });
  }
};
