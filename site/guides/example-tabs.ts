import { hash } from 'node:crypto';
import type { Token, Tokens } from 'marked';
import { codeBlock, commandBlock } from '../code/block.ts';
import { isTab, tabs } from '../code/tabs.ts';

/** The address of an installation in the texts. */
export const EXAMPLE_ORIGIN = 'http://localhost:4000';

/** Groups adjacent blocks whose language is followed by the name of a tab, by each block. */
export const tabGroupsAmong = (tokens: readonly Token[]): ReadonlyMap<object, readonly Tokens.Code[]> => {
  const groups = new Map<object, Tokens.Code[]>();
  let group: Tokens.Code[] | undefined;
  for (const token of tokens) {
    if (token.type === 'space') continue;
    if (!isTabbed(token)) group = undefined;
    else if (group === undefined) {
      group = [token];
      groups.set(token, group);
    } else {
      group.push(token);
      groups.set(token, []);
    }
  }
  return groups;
};

const tabIn = ({ lang = '' }: Tokens.Code): string | undefined => lang.split(' ')[1];
const isTabbed = (token: Token): token is Tokens.Code =>
  token.type === 'code' && isTab(tabIn(token as Tokens.Code));

export const tabsOf = (group: readonly Tokens.Code[], origin: string): string => {
  const panels = group.flatMap((code) => {
    const name = tabIn(code);
    const here = code.text.replaceAll(EXAMPLE_ORIGIN, origin);
    return isTab(name)
      ? [
          {
            name,
            content: name === 'curl' ? commandBlock(here) : codeBlock(here, name === 'client' ? 'ts' : name),
          },
        ]
      : [];
  });
  return tabs(
    `example-${hash('sha256', panels.map(({ content }) => content).join()).slice(0, ID_CHARACTERS)}`,
    panels,
  ).toString();
};
const ID_CHARACTERS = 12;
