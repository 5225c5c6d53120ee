import type { RequestHandler, Router } from 'express';
import { inSequence } from '#edge/http/in-sequence.ts';
import { createRouteTable } from '#edge/http/route-table.ts';
import { kebab, wire } from '#kernel/base/names.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { patchType } from '#kernel/decide/forms.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';
import { parentOf } from '#kernel/rest/operation.ts';
import { ofAggregates } from '#shared/rest/operations.ts';
import { mountWrite, type Write, type WriteDependencies, writeRoutes } from './write-routes.ts';

/**
 * The writes of items, except for files. `command` serves them, and so does `query` for writes that request
 * the item in the response.
 */
export const itemWrites = (dependencies: WriteDependencies): RequestHandler =>
  inSequence([
    aggregateRoutes(dependencies),
    ...(serves(dependencies.domain, 'webhooks') ? [webhookRoutes(dependencies)] : []),
  ]);

/** The routes of the writes to the aggregates of a domain, except for files. */
const aggregateRoutes = (dependencies: WriteDependencies & { readonly domain: Domain }): RequestHandler => {
  const table = createRouteTable();
  for (const [, operation] of ofAggregates(dependencies.domain)) {
    const { use } = operation;
    if (use.does !== 'command') continue;
    const { kind, command } = use;
    mountWrite(table.routerOf(routeOf(operation)), dependencies, {
      operation,
      collection: `/${kind.path}`,
      toCommand: commandFor(dependencies.domain, kind, command),
      ...(command.list && { items: { path: kebab(command.list.name), id: command.list.id.name } }),
    });
  }
  return table.handler;
};

/** An array is a JSON patch; all other bodies are forms. */
const commandFor = (domain: Domain, kind: Kind, command: CommandInfo): Write['toCommand'] => {
  const type = typeOfCommand(kind, command.name);
  const place = placeOf(domain, kind, command);
  return (item, body) =>
    Array.isArray(body)
      ? { type: patchType(kind, command.list), ...item, patch: body }
      : { type, ...place(item), ...(body as object | undefined) };
};

type Place = (item: object) => object;

/** A path names the parent of a new aggregate by its kind, and a command by the reference. */
const placeOf = (domain: Domain, kind: Kind, command: CommandInfo): Place => {
  const above = command.kind === 'create' ? parentOf(domain, kind) : undefined;
  if (above === undefined || kind.parent === undefined) return (item) => item;
  const [inPath, inCommand] = [`${above.name}Id`, wire(kind.parent, kind.fields[kind.parent])];
  return (item) => {
    const { [inPath]: id, ...others } = item as Readonly<Record<string, unknown>>;
    return { ...others, [inCommand]: id };
  };
};

const webhookRoutes = (dependencies: WriteDependencies): Router =>
  writeRoutes(dependencies, '/webhooks', {
    createWebhook: (_, webhook) => ({ type: 'RegisterWebhook', ...webhook }),
    replaceWebhook: (item, webhook) => ({ type: 'ReplaceWebhook', ...item, ...webhook }),
    editWebhook: (item, changes) =>
      Array.isArray(changes)
        ? { type: 'PatchWebhook', ...item, patch: changes }
        : { type: 'EditWebhook', ...item, ...changes },
    deleteWebhook: (item) => ({ type: 'DeleteWebhook', ...item }),
    rotateWebhookSecret: (item) => ({ type: 'RotateWebhookSecret', ...item }),
    enableWebhook: (item) => ({ type: 'EnableWebhook', ...item }),
    disableWebhook: (item) => ({ type: 'DisableWebhook', ...item, reason: 'owner' }),
  });
