import type { Router } from 'express';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Log } from '#shared/log.ts';
import type { Config } from './config.ts';
import type { Foundation } from './foundation.ts';

/** A service of a process with all roles that a part adds, such as the delivery of webhooks. */
export type AddedService = {
  start(dependencies: AddedServiceDependencies): Promise<AsyncDisposable & { readonly routes: Router }>;
};

type AddedServiceDependencies = Foundation & {
  readonly changes: ChangeStream;
  readonly gateway: CommandGateway;
  readonly log: Log;
  readonly config: Config;
  /** Whether this process follows the event log; otherwise another process does. */
  readonly follows: boolean;
};

declare module './part.ts' {
  interface Additions {
    readonly service: AddedService;
  }
}
