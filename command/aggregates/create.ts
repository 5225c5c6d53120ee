import { operationOf } from '#kernel/conditions/rights.ts';
import { type Command, creationOf } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { findBy } from '#kernel/decide/guards.ts';
import { targetOf, wire } from '#kernel/registry/names.ts';
import type { CommandInfo, Kind } from '#kernel/registry/registry.ts';
import type { UserId } from '#shared/brands.ts';
import { type Caller, may } from '#shared/policy.ts';
import { notFound, Rejection } from '#shared/rejection.ts';
import { demand, ownerOf } from '../handler.ts';
import { demandOwner } from '../users/demand-owner.ts';
import type { Asked, Handle, Parts } from './parts.ts';
import { contextOf, streamOf, type Target, toEvents } from './target.ts';

/** Creates an aggregate, which belongs to whoever is named, or else to the caller. */
export const creating = (parts: Parts, kind: Kind, command: CommandInfo): Handle => {
  const { domain, executor, rules, see } = parts;
  const decider = deciderOf(domain, kind);
  const begin = creationOf(kind);
  const own = rules[kind.name];
  const ownerKey = kind.owner === undefined ? undefined : wire(kind.owner, kind.fields[kind.owner]);
  return (given: Command, sent) => {
    const { caller, circumstances } = sent;
    const named = ownerKey === undefined ? undefined : (given[ownerKey] as UserId | undefined);
    const owner = ownerKey === undefined ? undefined : ownerOf(caller, named, `/${ownerKey}`);
    const targetFor = (id: number): Target => ({
      decider,
      stream: streamOf(kind, id),
      async decide(state) {
        const form = { ...given, [`${kind.name}Id`]: id, ...(ownerKey !== undefined && { [ownerKey]: owner }) };
        const { fields } = begin(form, state);
        const look = await see(kind, fields);
        const resource = { fields, find: findBy(look) };
        for (const operation of [command.name, ...command.next.filter((next) => form[next] === true)])
          demand(caller, operationOf(kind, operation), { resource });
        demandVisibleParent(parts, { kind, fields, look }, caller);
        const demandPresent = async () => {
          if (owner !== undefined) await demandOwner(parts, { ownerId: owner, named, pointer: `/${ownerKey}` });
        };
        // Whose it would be is told before what they would write, but after what it would stand under.
        if (kind.parent === undefined) await demandPresent();
        const events = decider.decide(form, state, contextOf(sent, look));
        if (kind.parent !== undefined) await demandPresent();
        return toEvents(events);
      },
      ...(own && { prepare: own.announce(id, sent) }),
    });
    return executor.create(targetFor, circumstances);
  };
};

/** Nobody creates anything under what they may not read; whether that is there at all is for the decider to say. */
const demandVisibleParent = ({ domain }: Parts, { kind, fields, look }: Asked, caller: Caller): void => {
  const def = kind.parent === undefined ? undefined : kind.fields[kind.parent];
  const parent = def && domain.kinds[targetOf(def)];
  if (parent === undefined) return;
  const state = look(parent.name, fields[kind.parent as string]);
  if (state.status === 'absent') return;
  if (!may(caller, operationOf(parent, 'read'), { fields: state.fields, find: findBy(look) })) throw new Rejection(notFound(parent.name));
};
