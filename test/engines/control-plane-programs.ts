import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

/** The programs of a Kubernetes control plane, and the kinds that others add to it, from Go's modules. */
const run = promisify(execFile);

const VERSION = 'v1.37.2';
/** Kubernetes' libraries are modules of their own, with versions of their own. */
const LIBRARIES = VERSION.replace(/^v1/, 'v0');
const PROGRAMS = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
} as const;
/** The kinds that the chart uses and Kubernetes has not. */
const DEFINITIONS = {
  'sigs.k8s.io/gateway-api@v1.7.0': ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': [
    'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  ],
  'github.com/kedacore/keda/v2@v2.21.0': ['config/crd/bases/keda.sh_scaledobjects.yaml'],
} as const;

export type Program = keyof typeof PROGRAMS;

const CACHE = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'annals',
  `kubernetes-${VERSION}`,
);

export const pathOf = (program: Program): string => join(CACHE, program);
export const definitions: readonly string[] = Object.values(DEFINITIONS)
  .flat()
  .map((file) => join(CACHE, basename(file)));

/** Why no control plane is started here, for tests that are then left out. */
export const controlPlaneMissing: string | undefined = existsSync(CACHE)
  ? undefined
  : 'its programs are not built (npm run test:all -- --only kubernetes builds them, with Go)';

/**
 * Builds them once, into a cache folder of the user's. Others may do so at the same time: they move to their
 * place once they are all there.
 */
const installControlPlane = async (): Promise<void> => {
  if (existsSync(CACHE)) return;
  if (spawnSync('go', ['version']).status !== 0) {
    console.error('There is no Go (apt-get install golang) to build a Kubernetes control plane with.');
    return;
  }
  await mkdir(join(CACHE, '..'), { recursive: true });
  const building = await mkdtemp(`${CACHE}-building-`);
  try {
    const [module, built] = [join(building, 'module'), join(building, 'built')];
    for (const folder of [module, built]) await mkdir(folder);
    await buildPrograms(module, built);
    await copyDefinitions(built);
    await rename(built, CACHE);
  } finally {
    await rm(building, { recursive: true, force: true });
  }
};

/** Where a module is, once it has been fetched. A Go that is too old to build it fetches it anyway. */
const fetchModule = async (module: string, cwd?: string): Promise<string> => {
  await run('go', ['mod', 'download', '-json', module], { cwd }).catch(
    (error: { readonly stdout: string }) => {
      if (!error.stdout.includes(' requires go ')) throw error;
    },
  );
  const { stdout: folder } = await run('go', ['env', 'GOMODCACHE']);
  return join(folder.trim(), module);
};

/**
 * `go install` refuses a module that replaces others. So this one takes over what Kubernetes requires, with
 * its libraries from where they are published.
 */
const buildPrograms = async (folder: string, built: string): Promise<void> => {
  const kubernetes = await fetchModule(`k8s.io/kubernetes@${VERSION}`, folder);
  const module = (await readFile(join(kubernetes, 'go.mod'), 'utf8'))
    .replace(/^module .*/m, 'module control-plane')
    .replace(/=> \.\/staging\/src\/(\S+)/g, `=> $1 ${LIBRARIES}`);
  await writeFile(join(folder, 'go.mod'), `${module}\nrequire k8s.io/kubernetes ${VERSION}\n`);
  await copyFile(join(kubernetes, 'go.sum'), join(folder, 'go.sum'));
  await chmod(join(folder, 'go.sum'), 0o644);
  const env = { ...process.env, CGO_ENABLED: '0' };
  for (const [program, source] of Object.entries(PROGRAMS)) {
    console.log(`building ${program} ${VERSION}`);
    const flags = `-s -w -X k8s.io/component-base/version.gitVersion=${VERSION}`;
    const args = ['build', '-mod=mod', '-buildvcs=false', '-trimpath', '-ldflags', flags];
    await run('go', [...args, '-o', join(built, program), source], { cwd: folder, env });
  }
};

const copyDefinitions = async (built: string): Promise<void> => {
  for (const [module, files] of Object.entries(DEFINITIONS)) {
    const folder = await fetchModule(module);
    for (const file of files) {
      const copied = join(built, basename(file));
      await copyFile(join(folder, file), copied);
      await chmod(copied, 0o644);
    }
  }
};

if (import.meta.main) await installControlPlane();
