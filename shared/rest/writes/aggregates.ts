import { Router } from 'express';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { patchType } from '#kernel/decide/forms.ts';
import { kebab } from '#kernel/registry/names.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';
import { ofAggregates } from '../operations.ts';
import { mountWrite, type Write, type WriteDependencies } from './write-routes.ts';

/** The routes of the writes to the aggregates of a domain, but for pictures. */
export const aggregateRoutes = (dependencies: WriteDependencies & { readonly domain: Domain }): Router => {
  const router = Router();
  for (const [, operation] of ofAggregates(dependencies.domain)) {
    const { use } = operation;
    if (use.does !== 'command') continue;
    const { kind, command } = use;
    mountWrite(router, dependencies, {
      operation,
      collection: `/${kind.path}`,
      toCommand: commandFor(kind, command),
      ...(command.list && { items: { path: kebab(command.list.name), id: command.list.id.name } }),
    });
  }
  return router;
};

/** A list is a JSON patch; all other bodies are forms. */
const commandFor = (kind: Kind, command: CommandInfo): Write['toCommand'] => {
  const type = typeOfCommand(kind, command.name);
  return (item, body) =>
    Array.isArray(body) ? { type: patchType(kind), ...item, patch: body } : { type, ...item, ...(body as object | undefined) };
};
