import { spawnSync } from 'node:child_process';

type Language = {
  readonly name: 'typescript' | 'python' | 'go' | 'java';
  /** Each exits with 0 if it is installed. */
  readonly needs: readonly (readonly [command: string, ...args: string[]])[];
  /** The article that each of its clients creates, and the interfaces that it reads lists by. */
  readonly titles: Readonly<Record<string, readonly string[]>>;
  /** Generates and compiles the REST client of any `openapi.json`. */
  readonly compile: string;
};
const BOTH = ['REST', 'GraphQL'];
export const LANGUAGES: readonly Language[] = [
  {
    name: 'typescript',
    titles: { 'From TypeScript': ['REST'], 'By a function': ['REST'] },
    needs: [['npm', '--version']],
    compile: `
npx openapi-typescript openapi.json --output rest.ts
npx openapi-ts --input openapi.json --output sdk --silent
npx tsc --noEmit`,
  },
  {
    name: 'python',
    titles: { 'From Python': BOTH },
    compile: `
.venv/bin/openapi-python-client generate --path openapi.json --config rest-python.yaml --meta none --output-path annals_rest --overwrite
.venv/bin/mypy annals_rest`,
    needs: [['python3', '-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))']],
  },
  // A version with support for tools of a module.
  {
    name: 'go',
    titles: { 'From Go': BOTH },
    needs: [['sh', '-c', 'cd / && go help tool | grep -q "go.mod\\|module"']],
    compile: 'go tool oapi-codegen -config rest.yaml openapi.json && go build ./rest',
  },
  {
    name: 'java',
    titles: { 'From Java': BOTH },
    compile: 'mvn --batch-mode --quiet compile',
    needs: [
      ['javac', '--release', '17', '-version'],
      ['mvn', '-version'],
    ],
  },
];

/** The error of a tool that cannot download its dependencies. */
export const NO_REGISTRY =
  /npm error code E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|TIMEDOUT)|No matching distribution|NewConnectionError|Temporary failure in name resolution|dial tcp|no such host|proxyconnect|Could not transfer artifact|Cannot access \w+ in offline mode|Unknown host/;

export const missingOf = ({ needs }: Language): string | undefined =>
  needs.find(([command, ...args]) => spawnSync(command, args).status !== 0)?.join(' ');
