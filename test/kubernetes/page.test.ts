import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KUBERNETES_PAGE, VALUES } from '../engines/chart-values.ts';
import { type Cluster, clusterMissing, startCluster } from '../engines/cluster.ts';

/**
 * The commands of docs/kubernetes.md, in the control plane of a real cluster. Left out is `kubectl exec`:
 * there is no container to run anything in (install.test.ts).
 */
if (clusterMissing !== undefined)
  process.stderr.write(`test/kubernetes/page.test.ts: left out, because ${clusterMissing}.\n`);

const [install = '', upgrade = ''] = [...KUBERNETES_PAGE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
  ([, block = '']) => block.replace(/^kubectl .* exec .*\n/gm, ''),
);

describe.skipIf(clusterMissing !== undefined)('docs/kubernetes.md', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.shell('cat > values.yaml', JSON.stringify(VALUES.page));
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  const imagesOf = async (): Promise<Readonly<Record<string, string>>> => {
    const template =
      '{range .items[*]}{.metadata.labels.app\\.kubernetes\\.io/component}={.spec.containers[0].image}{"\\n"}{end}';
    const text = await cluster.shell(`kubectl --namespace annals get pods --output jsonpath='${template}'`);
    return Object.fromEntries(
      text
        .trim()
        .split('\n')
        .map((line) => line.split('=')),
    );
  };

  test('installs, and upgrades readers before writers', async () => {
    expect(install).toContain('helm install');
    await cluster.shell(install);
    expect(await imagesOf()).toMatchObject({ command: 'registry.example/annals:1.2.3' });
    const [first = '', second = ''] = upgrade.trim().split('\n');
    await cluster.shell(first);
    const [former, next] = ['registry.example/annals:1.2.3', 'registry.example/annals:1.3.0'];
    expect(await imagesOf()).toMatchObject({ command: former, auth: former, query: next, projector: next });
    await cluster.shell(second);
    expect(await imagesOf()).toMatchObject({ command: next, auth: next, query: next, projector: next });
    await cluster.shell('helm uninstall annals --namespace annals --wait');
  });

  test('applies plain manifests, the Job first', async () => {
    const [, render = ''] = /`(helm template annals [^`]+ > annals\.yaml)`/.exec(KUBERNETES_PAGE) ?? [];
    await cluster.shell(render);
    const apply = 'kubectl --namespace annals apply --filename annals.yaml';
    await cluster.shell(`${apply} --selector app.kubernetes.io/component=migrations`);
    await cluster.shell('kubectl --namespace annals wait --for=condition=Complete job/annals-migrations');
    await cluster.shell(apply);
    await cluster.shell(
      'kubectl --namespace annals rollout status deployment --selector app.kubernetes.io/instance=annals --timeout 10m',
    );
    expect(Object.keys(await imagesOf())).toContain('router');
  });
});
