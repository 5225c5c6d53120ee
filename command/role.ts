import express, { type Request, Router } from 'express';
import { createSpentProofs, type SpentProofs } from '#edge/authenticate/spent-proofs.ts';
import { gatewayKey, InvalidAssertion, verifyAssertion } from '#edge/command-gateway/assertion.ts';
import { contextOf, parseSent, TAKES_WITHHELD } from '#edge/command-gateway/wire.ts';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { createApp } from '#edge/http/app.ts';
import { createFastRoutes } from '#edge/http/fast-routes.ts';
import { namesOf, traceparentOf } from '#edge/http/request-span.ts';
import { type HttpServer, startHttpServer } from '#edge/http/server.ts';
import { openLoadShedder } from '#edge/http/shed-load.ts';
import { resourcePaths } from '#edge/rest/resource-paths.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { openAuthentication } from '#process/authentication.ts';
import { openBlobs } from '#process/engines/open-blobs.ts';
import { type Foundation, openFoundation } from '#process/foundation.ts';
import type { ProcessContext } from '#process/run.ts';
import { drainingOf, serveClients } from '#process/serve-clients.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Log } from '#shared/log.ts';
import { type Caller, policyOf } from '#shared/policy.ts';
import { commandRoutes, openPartRoutes } from './routes.ts';
import { startCommands } from './start.ts';

/**
 * The command role on its own. It serves writes of clients on PORT, and commands of other roles on
 * INTERNAL_PORT.
 */
export const startRole = async (context: ProcessContext): Promise<void> => {
  const { config, resources } = context;
  const foundation = await openFoundation(context, 'annals-command');
  const blobs = resources.use(
    await openBlobs({ url: config.blobUrl, health: foundation.health, scan: context.scan }),
  );
  const gateway = resources.use(await startCommands(context, foundation, { blobs }));
  const { requireIfMatch } = config;
  const authentication = await openAuthentication(context, foundation);
  const beside = await serveRoles(context, foundation, gateway);
  const fastRoutes = createFastRoutes();
  const writes = commandRoutes({
    ...foundation,
    gateway,
    blobs,
    fastRoutes,
    requireIfMatch,
    bodyBytesMax: config.limits.bodyBytesMax,
  });
  const ofParts = await openPartRoutes(context.parts, { ...foundation, ...context, gateway });
  await serveClients(context, foundation, {
    routes: [resourcePaths(foundation.domain), writes, ...ofParts],
    links: [],
    authentication,
    fastPaths: [fastRoutes.fastPath],
    beside,
  });
};

/**
 * Other roles close idle connections two seconds earlier, and this role closes them later even while it
 * stops: no command is sent on a closing connection.
 */
const KEEP_ALIVE_MS = 4_000;

/** Commands of other roles have a server of their own, which only they can reach. */
const serveRoles = async (
  { config, log, resources }: ProcessContext,
  { domain, clock, pool, masterKey, metrics, tracing }: Foundation,
  gateway: CommandGateway,
): Promise<HttpServer> => {
  const { internal: listener, limits } = config;
  // Each other role sheds load itself, but there may be many of them.
  const shedder = resources.use(openLoadShedder(config.load, metrics));
  const taken = internalRoutes({
    domain,
    gateway,
    key: gatewayKey(masterKey),
    spentProofs: createSpentProofs(pool),
    bodyBytesMax: limits.bodyBytesMax,
    log,
  });
  const { requestLogLevel } = config;
  const routes = [Router().use(shedder.handler), taken];
  const handler = createApp({ log, metrics, tracing, requestLogLevel, routes });
  const server = resources.use(
    await startHttpServer({
      handler,
      listener,
      setting: 'INTERNAL_PORT',
      limits,
      ...drainingOf(config),
      keepAliveMs: KEEP_ALIVE_MS,
      log,
      clock,
    }),
  );
  log.info({ url: server.url }, 'Listening for commands of other roles.');
  return server;
};

const BEARER = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/;

type InternalOptions = {
  readonly domain: Domain;
  readonly gateway: CommandGateway;
  readonly key: Buffer;
  readonly spentProofs: SpentProofs;
  readonly bodyBytesMax: number;
  readonly log: Log;
};

/**
 * Receives commands from other roles. The assertion is bound to the exact body, so the body is read as text.
 */
export const internalRoutes = ({
  domain,
  gateway,
  key,
  spentProofs,
  bodyBytesMax,
  log,
}: InternalOptions): Router => {
  const policy = policyOf(domain);
  const verify = async (request: Request, body: string): Promise<Caller> => {
    const [, assertion = ''] = BEARER.exec(request.get('authorization') ?? '') ?? [];
    try {
      return await verifyAssertion(key, { assertion, body, policy, spentProofs });
    } catch (cause) {
      if (!(cause instanceof InvalidAssertion)) throw cause;
      // Not the caller’s fault: the roles differ in MASTER_KEY or in their clocks, or an intruder has network
      // access.
      log.error(
        { err: cause, ...namesOf(request) },
        'A command was refused, because it has no valid assertion of its caller.',
      );
      throw new HttpProblem('invalid_assertion', { cause });
    }
  };
  return Router()
    .post(
      '/commands',
      express.text({ type: 'application/json', limit: bodyBytesMax }),
      async (request, response) => {
        const body = typeof request.body === 'string' ? request.body : '';
        const caller = await verify(request, body);
        const sent = parseSent(domain, parseJson(body));
        const { withheld, ...answer } = await gateway.send(sent.command, {
          ...contextOf(sent, caller),
          trace: traceparentOf(request),
        });
        response.json(
          withheld !== undefined && request.get(TAKES_WITHHELD) !== undefined
            ? { ...answer, withheld }
            : answer,
        );
      },
    )
    .all('/commands', refuseOtherMethods('POST'));
};

const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new HttpProblem('malformed_body', { cause });
  }
};
