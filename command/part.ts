import type { AnyHandler, HandlerDependencies } from './handling/handler.ts';

/** A part of the command role, beside the commands of the domain. */
export type CommandPart = {
  /** The handlers of its commands, by type. */
  handlersOf(dependencies: HandlerDependencies): Readonly<Record<string, AnyHandler>>;
};

declare module '#process/part.ts' {
  interface Additions {
    readonly command: CommandPart;
  }
}
