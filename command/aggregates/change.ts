import { isOfId, operationOf } from '#kernel/conditions/rights.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { findBy, lookNowhere } from '#kernel/decide/guards.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { CommandInfo, Kind, Row } from '#kernel/registry/registry.ts';
import type { JsonPatch } from '#shared/commands/json-patch.ts';
import { type Caller, isInReach, may } from '#shared/policy.ts';
import { notFound, Rejection } from '#shared/rejection.ts';
import { demand } from '../handler.ts';
import { tellsContent } from '../patch-content.ts';
import { fieldRightsOf } from './field-rights.ts';
import type { Asked, Handle, Parts } from './parts.ts';
import { patchesOf } from './patch.ts';
import { contextOf, streamOf, type Target, toEvents } from './target.ts';

type Changing = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  /** The form, given what is there; `demandTo` refuses where the caller may not do something else as well. */
  formOn(given: Row, state: AggregateState, demandTo: (operation: string) => void): Row;
};

export const changing = (parts: Parts, kind: Kind, command: CommandInfo): Handle =>
  change(parts, { kind, command, formOn: (given) => given });

/** An edit by a JSON patch. */
export const patching = (parts: Parts, kind: Kind, command: CommandInfo): Handle => {
  const formByPatch = patchesOf(parts.domain, kind, command);
  const { reads } = fieldRightsOf(kind, command);
  return change(parts, {
    kind,
    command,
    formOn(given, state, demandTo) {
      const patch = given.patch as JsonPatch;
      if (tellsContent(patch)) for (const right of ['read', ...reads]) demandTo(right);
      return formByPatch(patch, state);
    },
  });
};

const change = (parts: Parts, { kind, command, formOn }: Changing): Handle => {
  const { domain, executor, rules, see } = parts;
  const decider = deciderOf(domain, kind);
  const type = typeOfCommand(kind, command.name);
  const { writes } = fieldRightsOf(kind, command);
  const own = rules[kind.name];
  return async (given, sent) => {
    const id = given[`${kind.name}Id`] as number;
    const target: Target = {
      decider,
      stream: streamOf(kind, id),
      async decide(state) {
        const isThere = state.status !== 'absent';
        const fields = isThere ? state.fields : { id };
        const look = isThere ? await see(kind, fields) : lookNowhere;
        const demandTo = (operation: string): void => {
          // Otherwise the decider says that there is nothing.
          if (isThere || isOfId(domain, kind, operation)) demandOn({ kind, fields, look }, { caller: sent.caller, command, operation });
        };
        demandTo(command.name);
        const form = formOn(given, state, demandTo);
        for (const right of writes(form, fields)) demandTo(right);
        const events = toEvents(decider.decide({ ...form, type }, state, contextOf(sent, look)));
        own?.refuse(events, sent);
        return events;
      },
      ...(own && { prepare: own.announce(id, sent) }),
    };
    return { id, ...(await executor.change(target, sent.circumstances)) };
  };
};

type Demanded = { readonly caller: Caller; readonly command: CommandInfo; readonly operation: string };

/** What somebody may not read is not there for them, but what is theirs they can always end. */
const demandOn = ({ kind, fields, look }: Asked, { caller, command, operation }: Demanded): void => {
  const resource = { fields, find: findBy(look) };
  const read = operationOf(kind, 'read');
  const absent = new Rejection(notFound(kind.name));
  demand(caller, operationOf(kind, operation), { resource, hidden: may(caller, read, resource) ? undefined : absent });
  if (command.kind !== 'end' && !isInReach(caller, read, resource)) throw absent;
};
