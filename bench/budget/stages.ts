import type { Profiler } from 'node:inspector';

/**
 * Assigns each function to a stage by its name and file. A frame without a stage of its own counts for its
 * nearest caller that has one, so work of a library or of Node counts for the code that called it.
 */
const STAGES: readonly (readonly [stage: string, pattern: RegExp])[] = [
  ['garbage', /^\(garbage collector\)/],
  ['idle', /^\(idle\)/],
  ['log', /\/process\/observability\/log\.ts|\/node_modules\/(pino|sonic-boom)\//],
  ['metrics', /\/node_modules\/prom-client\//],
  ['trace', /\/shared\/tracing\/|\/edge\/http\/request-span|\/node_modules\/@opentelemetry\//],
  [
    'database',
    /\/node_modules\/(pg|pg-[\w-]+)\/|\/shared\/database\/|\/query\/rows\/(statement|shared-runs)\.ts|\/planner\/statements\.ts/,
  ],
  [
    'authenticate',
    /\/edge\/(authenticate\/|http\/client-certificate)|\/node_modules\/jose\/|\/shared\/policy\.ts/,
  ],
  ['limit', /\/edge\/rate-limit\/|\/edge\/http\/(limit-|shed-load|slow-clients|client-address|body-time)/],
  [
    'parse',
    /\/edge\/http\/(json-body|parameters|parse-input)|\/graphql\/http\/parameters|\/node_modules\/zod\/|node:_http_(incoming|common)|^parserOn/,
  ],
  [
    'write',
    /^(end|_send|_writeRaw|_flushOutput|write_|_finish|send|resOnFinish) .*(node:_http_(outgoing|server)|\/express\/)|\/content-coding\.ts/,
  ],
  [
    'headers',
    /node:_http_outgoing|^writeHead |^(set|header|vary|type|append|get|status) .*\/express\/|\/node_modules\/(vary|mime-types|mime-db|content-type|etag)\/|\/edge\/http\/(cors|media-type|entity-tag|request-context|root)|\/rest\/media-type/,
  ],
  [
    'route',
    /\/node_modules\/(express|router|path-to-regexp|parseurl|proxy-addr|qs|type-is|accepts)\/|\/edge\/http\/|\/edge\/rest\/(admission|reads|resource-paths)|\/query\/rest\/(read-routes|just-created)\.ts/,
  ],
  // Followers read the log by these; the rest of the folder appends.
  [
    'follow the log',
    /\/(shared\/event-log\/(tail|follow-tail|postgres\/read)|adapters\/eventstoredb\/(follow|live-tail))\.ts/,
  ],
  [
    'write to the log',
    /\/command\/|\/shared\/(commands|command-gateway|event-log|events|keys|standing|snapshots)\/?|\/edge\/(command-gateway|rest\/writes)\/|\/adapters\/eventstoredb\/|\/kernel\/|\/query\/rest\/read-written/,
  ],
  [
    'follow the log',
    /\/projector\/|\/shared\/(projection|follower|change-stream|erasure|audit|blobs)\/|\/webhook-dispatcher\/|\/proof\/|\/auth\//,
  ],
  ['plan', /\/query\/|\/edge\/rest\/reads|\/node_modules\/graphql\//],
  ['socket', /node:(net|internal\/stream_base_commons|internal\/streams|_http_server|_http_outgoing)/],
];

export const STAGE_NAMES = [
  ...[
    'socket',
    'parse',
    'route',
    'authenticate',
    'limit',
    'plan',
    'database',
    'write to the log',
    'follow the log',
    'headers',
    'write',
  ],
  ...['log', 'metrics', 'trace', 'Node', 'garbage'],
] as const;

/** A longer sample means that another process had the CPU. */
const DELTA_MAX_US = 1_000;

/** The share of each stage in the CPU time that a profile has sampled. */
export const sharesOf = ({
  nodes,
  samples = [],
  timeDeltas = [],
}: Profiler.Profile): ReadonlyMap<string, number> => {
  const stages = new Map<number, string>();
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const frames = new Map(
    nodes.map(({ id, callFrame }) => [id, `${callFrame.functionName} ${callFrame.url}`]),
  );
  const stageOf = (id: number | undefined): string => {
    if (id === undefined) return 'Node';
    const frame = frames.get(id) ?? '';
    const stage =
      stages.get(id) ?? STAGES.find(([, pattern]) => pattern.test(frame))?.[0] ?? stageOf(parents.get(id));
    stages.set(id, stage);
    return stage;
  };
  const spent = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const stage = stageOf(id);
    spent.set(stage, (spent.get(stage) ?? 0) + Math.min(timeDeltas[index + 1] ?? 0, DELTA_MAX_US));
  }
  spent.delete('idle');
  const all = [...spent.values()].reduce((sum, each) => sum + each, 0);
  return new Map([...spent].map(([stage, each]) => [stage, each / all]));
};
