import type { JsonObject } from '#kernel/base/json.ts';
import type { JsonPatch } from '#kernel/base/json-patch.ts';
import { targetOf, wire } from '#kernel/base/names.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import { partRightsOf } from '#kernel/conditions/parts-of.ts';
import { isOfId, operationOf } from '#kernel/conditions/rights.ts';
import { areEqual } from '#kernel/decide/are-equal.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { contentSchema } from '#kernel/decide/forms.ts';
import { findBy } from '#kernel/decide/guards.ts';
import { readsOf, referencesAfter } from '#kernel/decide/reads.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { CommandInfo, Domain, Kind, Row } from '#kernel/registry/registry.ts';
import { type Caller, isInReach, may } from '#shared/policy.ts';
import { callersOf } from '../handling/execution-context.ts';
import { demand } from '../handling/handler.ts';
import { changesByPatch, namesWhole, revealsContent } from '../handling/patch-content.ts';
import { contextOf, preparing, streamOf, type Target, toEvents } from '../handling/target.ts';
import { demandPersonToRelease, sayingWhy } from './held.ts';
import { type FormByPatch, patchesOfItem } from './item-patches.ts';
import type { Asked, Handle, Parts } from './parts.ts';
import { partsWritten } from './parts-written.ts';
import { readAfter, SEEN_NOTHING } from './read-references.ts';
import { severalOf } from './several.ts';

type Changing = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  /** Computes the form from the present state; `demandTo` throws unless the caller also has another right. */
  formOn(given: Row, state: AggregateState, demandTo: (operation: string) => void): Row;
};

export const changing = (parts: Parts, kind: Kind, command: CommandInfo): Handle =>
  change(parts, { kind, command, formOn: (given) => given });

/** The handler of an edit by JSON patch. */
export const patching = (parts: Parts, kind: Kind, command: CommandInfo): Handle => {
  const { list } = command;
  const formByPatch =
    list === undefined ? patchesOf(parts.domain, kind, command) : patchesOfItem(parts.domain, command, list);
  const toParts = partRightsOf(kind).flatMap(({ name, fields }) => (fields.length > 0 ? [name] : []));
  return change(parts, {
    kind,
    command,
    formOn(given, state, demandTo) {
      const patch = given.patch as JsonPatch;
      // The rights to the parts that the patch names were checked already; the whole document contains all
      // parts.
      if (revealsContent(patch))
        for (const right of ['read', ...(namesWhole(patch) ? toParts : [])]) demandTo(right);
      return formByPatch(patch, state, given);
    },
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
        const form = formOn(given, state, demandTo);
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

const patchesOf = (domain: Domain, kind: Kind, edit: CommandInfo): FormByPatch => {
  const schema = contentSchema(kind.fields, edit.form);
  const content = edit.form.map((name) => [name, wire(name, kind.fields[name])] as const);
  const required = edit.form.filter((name) => !kind.fields[name]?.optional);
  const rest = Object.entries(kind.fields).filter(([name]) => !edit.form.includes(name));
  const derived = new Set(kind.derived.map(({ name }) => name));
  // The fixed fields as read: the parent by its id, other references as objects.
  const flat = rest.filter(
    ([name, def]) =>
      name === kind.parent || def.kind === 'states' || def.kind === 'choice' || derived.has(name),
  );
  const references = rest.filter(([name, def]) => name !== kind.parent && def.kind === 'ref');
  const labels = references.map(([name, def]) => `/${name}/${domain.kinds[targetOf(def)]?.label ?? ''}`);
  const moments = rest.filter(([, def]) => def.kind === 'instant').map(([name]) => `/${name}`);
  const unknown = [...labels, ...moments, '/createdAt', '/updatedAt', '/_links'];
  return (patch, state) => {
    if (state.status !== 'present' || required.some((name) => state.fields[name] === null)) return {};
    const { fields } = state;
    const document = {
      content: Object.fromEntries(content.map(([name, key]) => [key, fields[name]])) as JsonObject,
      fixed: {
        id: fields.id,
        ...Object.fromEntries(flat.map(([name, def]) => [wire(name, def), fields[name]])),
        ...Object.fromEntries(references.map(([name]) => [name, { id: fields[name] }])),
      } as JsonObject,
      unknown,
    };
    return changesByPatch(schema, document, patch);
  };
};
