import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { clientModule } from './client-modules.ts';
import { temporaryDataDir } from './data-dir.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The page of docs/browser.md in a project with the package installed, served as the guide says. */
type BrowserExample = AsyncDisposable & { readonly url: string };

export const serveBrowserExample = async (
  environment: Readonly<Record<string, string>>,
): Promise<BrowserExample> => {
  await using opening = new AsyncDisposableStack();
  const { path } = opening.use(await temporaryDataDir());
  await cp(join(ROOT, 'docs/examples/browser'), path, { recursive: true });
  await writeFile(join(path, 'package.json'), JSON.stringify({ type: 'module' }));
  await installClient(join(path, 'node_modules/annals'));
  const child = spawn(process.execPath, ['serve.js'], {
    cwd: path,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  opening.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill();
    await once(child, 'exit');
  });
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  const resources = opening.move();
  return { url, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** As in the package; `test/package.engine.test.ts` tests the built one. */
const installClient = async (folder: string): Promise<void> => {
  const exported = { './client': './package/client.js', './client/sign-in': './package/client-sign-in.js' };
  const modules = globSync(['client/**/*.ts', 'package/client*.ts'], {
    cwd: ROOT,
    exclude: (name) => name.endsWith('.test.ts'),
  });
  for (const module of modules) {
    const file = module.replace(/\.ts$/, '.js');
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), clientModule(file));
  }
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'annals', type: 'module', exports: exported }),
  );
};
