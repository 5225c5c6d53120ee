import type { RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import type { RateLimits } from '#edge/rate-limit/rate-limit.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Config } from '#process/config.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import type { AnyHandler, HandlerDependencies } from './handling/handler.ts';

/** A part of the command role, beside the commands of the domain. */
export type CommandPart = {
  /** The handlers of its commands, by type. */
  handlersOf?(dependencies: HandlerDependencies): Readonly<Record<string, AnyHandler>>;
  /** Opens its routes in a process that serves clients. */
  routesOf?(resources: CommandPartResources): Promise<RequestHandler>;
};

export type CommandPartResources = {
  readonly domain: Domain;
  readonly gateway: CommandGateway;
  readonly rateLimits: RateLimits;
  readonly metrics: Registry;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: Pick<Config, 'limits' | 'rateLimits' | 'ownSetting'>;
  /** Closes with the process. */
  readonly resources: AsyncDisposableStack;
};

declare module '#process/part.ts' {
  interface Additions {
    readonly command: CommandPart;
  }
}
