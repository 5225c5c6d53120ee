import { wire } from '#kernel/base/names.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import { isOfId, operationOf } from '#kernel/conditions/rights.ts';
import { areEqual } from '#kernel/decide/are-equal.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { findBy } from '#kernel/decide/guards.ts';
import { readsOf, referencesAfter } from '#kernel/decide/reads.ts';
import type { CommandInfo, Kind, Row } from '#kernel/registry/registry.ts';
import { type Caller, isInReach, may } from '#shared/policy.ts';
import { whenAsked } from '#shared/when-asked.ts';
import { callersOf } from '../handling/execution-context.ts';
import { demand } from '../handling/handler.ts';
import { contextOf, preparing, streamOf, type Target, toEvents } from '../handling/target.ts';
import type { FormOn } from './form-on.ts';
import { demandPersonToRelease, sayingWhy } from './held.ts';
import type { Asked, Handle, Parts } from './parts.ts';
import { partsWritten } from './parts-written.ts';
import { readAfter, SEEN_NOTHING } from './read-references.ts';
import { severalOf } from './several.ts';

type Changing = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly formOn: FormOn | ((...given: Parameters<FormOn>) => Promise<Row>);
};

export const changing = (parts: Parts, kind: Kind, command: CommandInfo): Handle =>
  change(parts, { kind, command, formOn: (given) => given });

/** The handler of an edit by JSON patch, whose code is loaded with the first one. */
export const patching = (parts: Parts, kind: Kind, command: CommandInfo): Handle => {
  const byPatch = whenAsked(async () =>
    (await import('./by-patch.ts')).formByPatch(parts.domain, kind, command),
  );
  return change(parts, {
    kind,
    command,
    formOn: async (given, state, demandTo) => (await byPatch())(given, state, demandTo),
  });
};

const change = (parts: Parts, { kind, command, formOn }: Changing): Handle => {
  const { domain, executor, limits, rules, readReferences, demandReferences } = parts;
  const decider = deciderOf(domain, kind);
  const type = typeOfCommand(kind, command.name);
  const writes = writesOf(kind, command);
  const ofParts = partsWritten(kind, command);
  const reads = readsOf(kind, command);
  // The right to move an aggregate must hold below both parents.
  const moves = command.events.some(({ former }) => former !== undefined);
  const own = rules[kind.name];
  return async (given, sent) => {
    const id = given[`${kind.name}Id`] as number;
    const decideAll = severalOf(parts, { kind, command, metadata: sent.execution.metadata });
    const target: Target = {
      decider,
      stream: streamOf(kind, id),
      async decide(state) {
        const isThere = state.status !== 'absent';
        const fields = isThere ? state.fields : { id };
        const before = isThere ? await readReferences(kind, fields, { reads }) : SEEN_NOTHING;
        const { look } = before;
        const demandTo = (operation: string): void => {
          // Otherwise the decider reports that the aggregate does not exist.
          if (isThere || isOfId(domain, kind, operation))
            for (const caller of callersOf(sent))
              demandOn({ kind, fields, look }, { caller, command, operation });
        };
        demandTo(command.name);
        demandPersonToRelease(kind, command, sent);
        const mayRead = (part: string): boolean =>
          isInReach(sent.caller, operationOf(kind, part), { fields, find: findBy(look) });
        if (isThere && ofParts.isGone(given, fields, mayRead)) return { events: [] };
        const form = await formOn(given, state, demandTo);
        for (const right of writes(form, fields)) demandTo(right);
        // The decider says that an aggregate has ended, or never existed.
        if (state.status === 'present')
          await demandReferences.inForm({ kind, command, form, fields }, sent.caller);
        const moved = { kind, fields, form: command.list ? {} : form, before };
        const seen = isThere ? await readAfter(readReferences, moved, reads) : before;
        if (moves && state.status === 'present')
          for (const caller of callersOf(sent))
            demand(caller, operationOf(kind, command.name), {
              resource: { fields: referencesAfter(kind, fields, form), find: findBy(seen.look) },
              hidden: undefined,
            });
        const { happened, ...beside } = await decideAll({
          ...{ fields, form, seen, caller: sent.caller },
          decide: (find) => decider.decide({ ...form, type }, state, contextOf(sent, find)),
        }).catch(sayingWhy({ kind, fields, mayRead }));
        await demandReferences.inEvents(happened, { form, fields });
        const events = toEvents(happened);
        own?.refuse(events, sent);
        return { events, ...beside };
      },
      ...preparing(limits.announce(kind, id, sent.execution.metadata), own?.announce(id, sent)),
    };
    return { id, ...(await executor.change(target, sent.execution)) };
  };
};

type Demanded = { readonly caller: Caller; readonly command: CommandInfo; readonly operation: string };

/** An invisible aggregate is reported as absent, but owners can always end theirs. */
const demandOn = ({ kind, fields, look }: Asked, { caller, command, operation }: Demanded): void => {
  const resource = { fields, find: findBy(look) };
  const read = operationOf(kind, 'read');
  const absent = new Rejection(notFound(kind.name));
  demand(caller, operationOf(kind, operation), {
    resource,
    hidden: may(caller, read, resource) ? undefined : absent,
  });
  if (command.kind !== 'end' && !isInReach(caller, read, resource)) throw absent;
};

/**
 * The rights to single fields that a command needs beside its own. Unchanged values need no right, so that a
 * read aggregate can be sent back.
 */
type WritesOf = (form: Row, fields: Row) => readonly string[];

const writesOf = (kind: Kind, command: CommandInfo): WritesOf => {
  const touching = Object.entries(kind.fieldRights).flatMap(([right, { writes = [] }]) => {
    const touched = command.form.filter((name) => (writes as readonly string[]).includes(name));
    return touched.length === 0
      ? []
      : [{ right, touched: touched.map((name) => [name, wire(name, kind.fields[name])] as const) }];
  });
  return (form, fields) =>
    touching.flatMap(({ right, touched }) =>
      touched.some(([name, key]) => form[key] !== undefined && !areEqual(form[key], fields[name]))
        ? [right]
        : [],
    );
};
