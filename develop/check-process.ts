import { resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { isDomain } from '#process/demand-served.ts';
import '#shared/needed/all.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { layOver, type Overlay } from './overlay.ts';
import { refusalIn } from './refusal.ts';

// A process of its own: it loads a declaration as it would be after some changes, which are not on the disk yet.

type Asked = { readonly file: string; readonly overlay: Overlay };

const answer = async (): Promise<{ readonly refused?: string }> => {
  const { file, overlay } = (await json(process.stdin)) as Asked;
  try {
    layOver(overlay);
    const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(resolve(file)).href);
    const domain = Object.values(exported).find(isDomain);
    if (domain === undefined) return { refused: `${file} exports no domain.` };
    operationsOf(domain);
    return {};
  } catch (error) {
    return { refused: refusalIn(error) };
  }
};

// A module of the domain may keep the process alive.
process.stdout.write(`\n${JSON.stringify(await answer())}\n`, () => process.exit());
