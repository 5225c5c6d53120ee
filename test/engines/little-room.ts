import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Calls a function of a module in a process whose files may not exceed a few blocks, so that the system
 * writes only a part of longer data, as on a full disk. Returns the code of the error, or `written`.
 */
export const callWithLittleRoom = async (module: URL, call: string): Promise<string> => {
  const script = `const call = ${call};
    const outcome = await import(${JSON.stringify(module.href)}).then(call).then(() => 'written', ({ code }) => code);
    process.stdout.write(outcome);`;
  const limited = 'ulimit -f 8; exec "$0" --input-type=module --eval "$1"';
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, script]);
  return stdout;
};
