// The exports of the npm package `annals`: what declares a domain, and what serves it. The repository imports
// the modules themselves.
import './testing/dispose.ts';

// biome-ignore lint/performance/noBarrelFile: what a package exports is one.
export { assemble } from '#kernel/assembly/assemble.ts';
export type { Scan, ScannedFile } from '#kernel/base/scan.ts';
export { domain } from '#kernel/declare/domain.ts';
export {
  choice,
  date,
  file,
  flag,
  instant,
  integer,
  line,
  list,
  markdown,
  month,
  picture,
  prose,
  ref,
  set,
  states,
  week,
  word,
} from '#kernel/declare/fields.ts';
export { run } from '#kernel/declare/run.ts';
export { avg, latest, max, min, sum } from '#kernel/declare/view.ts';
export type { Domain } from '#kernel/registry/registry.ts';
export type { OwnRoutes } from '#process/own-routes.ts';
export type { Part } from '#process/part.ts';
export {
  accounts,
  aggregates,
  console,
  docs,
  graphql,
  graphqlWebSockets,
  inbox,
  mcp,
  proof,
  streams,
  webhooks,
} from '../parts.ts';
export { start } from '../start.ts';
