import { parked } from '#edge/http/parked.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { targetOf, wire } from '#kernel/base/names.ts';
import { deleted, notFound, Rejection } from '#kernel/base/rejection.ts';
import { FOR_OTHERS, operationOf } from '#kernel/conditions/rights.ts';
import { type Command, creationOf, typeOfCommand } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { patchedCommandsOf, patchType } from '#kernel/decide/forms.ts';
import { findBy } from '#kernel/decide/guards.ts';
import { readsOf } from '#kernel/decide/reads.ts';
import { needsReason } from '#kernel/decide/reasons.ts';
import type { CommandInfo, Kind } from '#kernel/registry/registry.ts';
import { admit, type Caller, may, type Resource } from '#shared/policy.ts';
import { isDamage } from '#shared/visibility/damage.ts';
import { callersOf } from '../handling/execution-context.ts';
import { type AnyHandler, demand, ownerOf } from '../handling/handler.ts';
import { contextOf, preparing, streamOf, type Target, toEvents } from '../handling/target.ts';
import { demandOwner } from '../users/demand-owner.ts';
import { changing, patching } from './change.ts';
import { createDemandReferences } from './demand-references.ts';
import type { Asked, Handle, Parts } from './parts.ts';
import { createReferenceReader } from './read-references.ts';
import { revealing } from './revealing.ts';
import { severalOf, targetReader } from './several.ts';

/** The handlers of the commands to aggregates of a domain and to users: those of clients, or all. */
export const aggregateHandlers = (
  dependencies: Omit<Parts, 'readReferences' | 'readTarget' | 'demandReferences'>,
  { withInternal = false } = {},
): Readonly<Record<string, AnyHandler>> => {
  const { domain, states } = dependencies;
  const readReferences = createReferenceReader(domain, states);
  const { inForm, inEvents, ofOwner, ofOthers } = createDemandReferences({ domain, states, readReferences });
  const parts = {
    ...dependencies,
    readReferences: refusingDamaged(readReferences),
    readTarget: refusingDamaged(targetReader(domain, states)),
    demandReferences: {
      inForm: refusingDamaged(inForm),
      inEvents: refusingDamaged(inEvents),
      ofOwner: refusingDamaged(ofOwner),
      ofOthers: refusingDamaged(ofOthers),
    },
  };
  return Object.fromEntries(
    Object.values(domain.kinds).flatMap((kind) => handlersOf(parts, kind, withInternal)),
  );
};

const handlersOf = (
  parts: Parts,
  kind: Kind,
  withInternal: boolean,
): readonly (readonly [type: string, handler: AnyHandler])[] => {
  const handlerOf = (command: CommandInfo, handle: Handle): AnyHandler => {
    const operation = operationOf(kind, command.name);
    return {
      admit: (caller) => (command.internal ? 'allowed' : admit(caller, operation)),
      needsReason: (given) => needsReason(kind, command, given),
      handle: handle as AnyHandler['handle'],
    };
  };
  const commands = Object.values(kind.commands).filter(({ internal }) => withInternal || !internal);
  return [
    ...commands.map((command) => {
      const handle = (command.kind === 'create' ? creating : changing)(parts, kind, command);
      return [
        typeOfCommand(kind, command.name),
        { ...handlerOf(command, handle), ...revealing(parts, kind, command) },
      ] as const;
    }),
    ...patchedCommandsOf(kind).map(
      (command) =>
        [patchType(kind, command.list), handlerOf(command, patching(parts, kind, command))] as const,
    ),
  ];
};

/** Creates an aggregate for the named owner, or for the caller. */
const creating = (parts: Parts, kind: Kind, command: CommandInfo): Handle => {
  const { domain, executor, limits, rules, readReferences, demandReferences } = parts;
  const decider = deciderOf(domain, kind);
  const begin = creationOf(kind);
  const idKey = `${kind.name}Id`;
  const operation = operationOf(kind, command.name);
  const further = command.next.map((next) => [next, operationOf(kind, next)] as const);
  const own = rules[kind.name];
  const reads = readsOf(kind, command);
  const ownerKey = kind.owner === undefined ? undefined : wire(kind.owner, kind.fields[kind.owner]);
  return (given: Command, sent) => {
    const { caller, execution } = sent;
    const named = ownerKey === undefined ? undefined : (given[ownerKey] as UserId | undefined);
    const owner = ownerKey === undefined ? undefined : ownerOf(caller, named, `/${ownerKey}`);
    const decideAll = severalOf(parts, { kind, command, metadata: execution.metadata });
    const targetFor = (id: number): Target => ({
      decider,
      stream: streamOf(kind, id),
      async decide(state) {
        const form: Record<string, unknown> & Command = { ...given, [idKey]: id };
        if (ownerKey !== undefined) form[ownerKey] = owner;
        const { fields } = begin(form, state);
        const demandSent = () => demandReferences.inForm({ kind, command, form, fields: {} }, caller);
        const seen = await readReferences(kind, fields, { isCreation: true, reads }).catch(
          async (error: unknown) => {
            // A damaged target is reported only to those who may read it.
            await demandSent();
            throw error;
          },
        );
        const { look } = seen;
        const resource = { fields, find: findBy(look) };
        for (const each of callersOf(sent)) demand(each, operation, { resource });
        if (owner !== undefined) demandForOthers(kind, { owner, caller, resource });
        for (const [next, its] of further)
          if (form[next] === true) for (const each of callersOf(sent)) demand(each, its, { resource });
        demandVisibleParent(parts, { kind, fields, look }, caller);
        const demandPresent = async () => {
          if (owner === undefined) return;
          if (named !== undefined) await demandReferences.ofOwner(kind, owner, caller);
          else await demandOwner(parts, { ownerId: owner, named, pointer: `/${ownerKey}` });
        };
        // A missing owner is reported before other errors in the form, but after a missing parent.
        if (kind.parent === undefined) await demandPresent();
        await demandSent();
        const { happened, ...beside } = await decideAll({
          ...{ fields, form, seen, caller },
          decide: (find) => decider.decide(form, state, contextOf(sent, find)),
        });
        if (kind.parent !== undefined) await demandPresent();
        demandPresentParent(parts, { kind, fields, look });
        await demandReferences.inEvents(happened, { form, fields: {} });
        return { events: toEvents(happened), ...beside };
      },
      ...preparing(limits.announce(kind, id, execution.metadata), own?.announce(id, sent)),
    });
    return executor.create(targetFor, execution);
  };
};

type New = { readonly owner: UserId; readonly caller: Caller; readonly resource: Resource };

/** A caller who names another user as the owner needs a right of its own for that. */
const demandForOthers = (kind: Kind, { owner, caller, resource }: New): void => {
  if (caller.kind === 'system' || (caller.kind === 'user' && caller.userId === owner)) return;
  if (kind.rights[FOR_OTHERS] !== undefined) demand(caller, operationOf(kind, FOR_OTHERS), { resource });
  else if (caller.kind === 'anonymous') throw new Rejection('unauthenticated');
  else if (caller.role !== 'admin') throw new Rejection('forbidden');
};

/** The parent of a creation, with its state; undefined if the kind has none. */
const parentIn = ({ domain }: Parts, { kind, fields, look }: Asked) => {
  const { parent: field } = kind;
  const def = field === undefined ? undefined : kind.fields[field];
  const parent = def && domain.kinds[targetOf(def)];
  return field === undefined || parent === undefined
    ? undefined
    : { parent, state: look(parent.name, fields[field]) };
};

/** The decider may have refused it already, with a refusal of its condition. */
const demandPresentParent = (parts: Parts, asked: Asked): void => {
  const { parent, state } = parentIn(parts, asked) ?? {};
  if (parent === undefined || state?.status === 'present') return;
  throw new Rejection(state?.status === 'absent' ? notFound(parent.name) : deleted(parent.name));
};

/** Callers cannot create below a parent that they cannot read. The decider reports a missing parent. */
const demandVisibleParent = (parts: Parts, asked: Asked, caller: Caller): void => {
  const { parent, state } = parentIn(parts, asked) ?? {};
  if (parent === undefined || state === undefined || state.status === 'absent') return;
  const resource = { fields: state.fields, find: findBy(asked.look) };
  if (!may(caller, operationOf(parent, 'read'), resource)) throw new Rejection(notFound(parent.name));
};

/** If an event behind a reference cannot be read, no decision is possible until an operator acts. */
const refusingDamaged =
  <Given extends readonly unknown[], Read>(read: (...given: Given) => Promise<Read>) =>
  (...given: Given): Promise<Read> =>
    read(...given).catch((error: unknown) => {
      // A `TypeError` is a defect in our code, not a damaged event.
      throw isDamage(error) && !(error instanceof TypeError) ? parked(error) : error;
    });
