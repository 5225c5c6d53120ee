import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../testing/until.ts';
import { PUBLIC_URL } from '../engines/chart-values.ts';
import { type Cluster, clusterMissing, type Namespace, startCluster } from '../engines/cluster.ts';
import type { Pod } from '../engines/kubelet-stand-in.ts';

/** Upgrades of the chart in the control plane of a real cluster; no container runs (install.test.ts). */
if (clusterMissing !== undefined)
  process.stderr.write(`test/kubernetes/upgrade.test.ts: left out, because ${clusterMissing}.\n`);

const WAIT_MS = 60_000;
const PARTS = ['auth', 'command', 'projector', 'query', 'webhook-dispatcher', 'router'] as const;
type Part = (typeof PARTS)[number];

describe.skipIf(clusterMissing !== undefined)('an upgrade of the chart in a cluster', () => {
  let cluster: Cluster;
  let namespace: Namespace;

  beforeAll(async () => {
    cluster = await startCluster();
    namespace = await cluster.namespace('upgraded', { publicUrl: PUBLIC_URL });
    await namespace.helm('install', `--values ${namespace.values} --wait --timeout 10m`);
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  const upgrade = (flags = ''): Promise<string> =>
    namespace.helm('upgrade', `--values ${namespace.values} --wait --timeout 10m ${flags}`);

  /** The parts whose pods are others afterwards. */
  const replacedBy = async (work: () => Promise<unknown>): Promise<readonly Part[]> => {
    const before = await uidsOf(namespace);
    await work();
    const after = await uidsOf(namespace);
    return PARTS.filter((part) => !after[part].every((uid) => before[part].includes(uid)));
  };

  test('replaces no pod and changes no object if nothing has changed', async () => {
    const before = await versionsOf(namespace);
    expect(await replacedBy(() => upgrade())).toEqual([]);
    expect(await versionsOf(namespace)).toEqual(before);
  });

  test('replaces the pods of the role whose setting has changed, and changes nothing else', async () => {
    const before = await versionsOf(namespace);
    expect(await replacedBy(() => upgrade('--set-string roles.query.settings.DRAIN_MS=6000'))).toEqual([
      'query',
    ]);
    const after = await versionsOf(namespace);
    const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
    expect(changed).toEqual(['Deployment/annals-query']);
  });

  test('replaces readers before writers in the order of docs/kubernetes.md', async () => {
    const former = await imageOf(namespace, 'command');
    const tag = former.split(':').at(-1);
    const held = `--set image.tag=next --set roles.command.tag=${tag} --set roles.auth.tag=${tag}`;
    expect(await replacedBy(() => upgrade(held))).toEqual(['projector', 'query', 'webhook-dispatcher']);
    expect(await replacedBy(() => upgrade('--set image.tag=next'))).toEqual(['auth', 'command']);
    expect(await imageOf(namespace, 'command')).toBe('annals:next');
  });

  test('replaces no pod if the first key cannot be made', async () => {
    cluster.hold(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === 'migrations');
    const refused = () =>
      expect(upgrade('--set image.tag=broken --set migrations.deadlineSeconds=2')).rejects.toThrow(
        /annals-migrations/,
      );
    expect(await replacedBy(refused)).toEqual([]);
    cluster.hold(() => false);
    expect(await imageOf(namespace, 'query')).toBe('annals:next');
    expect(await replacedBy(() => namespace.helm('rollback', '--wait --timeout 10m'))).toEqual([]);
  });

  test('leaves the number of pods to autoscaling once it is on, and takes it back when it is off', async () => {
    const untilScaled = (count: number) =>
      until(
        () => namespace.pods('query'),
        (pods) => pods.length === count,
        WAIT_MS,
      );
    const scale = (count: number) =>
      cluster.shell(
        `kubectl --namespace ${namespace.name} scale deployment annals-query --replicas=${count}`,
      );
    const scaling = '--set image.tag=next --set roles.query.autoscaling.enabled=true';
    await scale(3);
    await untilScaled(3);
    expect(await replacedBy(() => upgrade(scaling))).toEqual([]);
    await untilScaled(3);
    await scale(5);
    await untilScaled(5);
    await upgrade(`${scaling} --set-string settings.RATE_LIMIT=300`);
    await untilScaled(5);
    await upgrade('--set image.tag=next --force-conflicts');
    await untilScaled(2);
  });

  test('lets one pod of a role be evicted at a time', async () => {
    const [one, other] = await namespace.pods('command');
    const evict = ({ metadata }: Pod) =>
      cluster.ask('POST', `/api/v1/namespaces/${namespace.name}/pods/${metadata.name}/eviction`, {
        ...{ apiVersion: 'policy/v1', kind: 'Eviction' },
        metadata: { name: metadata.name, namespace: namespace.name },
      });
    if (one === undefined || other === undefined) throw new Error('there are no two pods');
    await evict(one);
    await expect(evict(other)).rejects.toThrow(/429 .*disruption budget/);
  });
});

const uidsOf = async (namespace: Namespace): Promise<Readonly<Record<Part, readonly string[]>>> => {
  const pods = await namespace.pods();
  const of = (part: Part) =>
    pods
      .filter(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === part)
      .map(({ metadata }) => metadata.uid);
  return Object.fromEntries(PARTS.map((part) => [part, of(part)])) as unknown as Record<Part, string[]>;
};

const imageOf = async (namespace: Namespace, part: Part): Promise<string> => {
  const pods = await namespace.pods(part);
  const images = new Set(pods.map(({ spec }) => spec.containers[0]?.image));
  expect(images.size, part).toBe(1);
  return [...images][0] ?? '';
};

type Versioned = {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly uid: string; readonly generation?: number };
  readonly data?: object;
  readonly spec?: object;
};

/** The objects that the chart makes, by content. */
const versionsOf = async (namespace: Namespace): Promise<Readonly<Record<string, string>>> => {
  const kinds =
    'deployments,services,configmaps,poddisruptionbudgets,networkpolicies,persistentvolumeclaims,horizontalpodautoscalers';
  const items = await namespace.list<Versioned>(kinds);
  return Object.fromEntries(
    items.map(({ kind, metadata: { name, uid, generation }, data, spec }) => [
      `${kind}/${name}`,
      JSON.stringify({ uid, generation, data, spec }),
    ]),
  );
};
