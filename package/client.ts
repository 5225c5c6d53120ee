// The exports of `annals/client` in the npm package: for browsers and Node, without dependencies and without
// server code.
// biome-ignore lint/performance/noBarrelFile: what a package exports is one.
export { can } from '../client/can.ts';
export { createClient } from '../client/client.ts';
export { type FileDetails, fileDetails } from '../client/file-details.ts';
export type { Followed } from '../client/follow.ts';
export type { Listing, Page } from '../client/pages.ts';
export { NoAnswer, Problem } from '../client/problem.ts';
export type { Options as ClientOptions } from '../client/requests.ts';
export type { Session, Token } from '../client/session.ts';
export type { Client } from '../client/types/client.ts';
export type { AnyEvent } from '../client/types/events.ts';
export type { ReadOptions, Target, WriteOptions } from '../client/types/options.ts';
export type { ProblemCode } from '../client/types/problems.ts';
export type { Item, Link, Written } from '../client/types/representation.ts';
export { verifyWebhook, WebhookRefused } from '../client/verify-webhook.ts';
