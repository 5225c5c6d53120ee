/**
 * Code that only some installations need, and then without waiting for it: a start loads what its domain and parts
 * use (`shared/needed/load-needed.ts`); whatever serves any domain loads all (`shared/needed/all.ts`).
 */
export type Later<Module> = {
  readonly name: string;
  readonly isLoaded: boolean;
  /** Throws if it is not loaded. */
  readonly module: Module;
  load(): Promise<void>;
  /** Another module has imported it. */
  provide(module: Module): void;
};

export const later = <Module>(name: string, load: () => Promise<Module>): Later<Module> => {
  let loaded: Module | undefined;
  return {
    name,
    get isLoaded() {
      return loaded !== undefined;
    },
    get module() {
      if (loaded === undefined)
        throw new Error(
          `${name} is used before it is loaded: \`start\` loads it, and so does annals/testing.`,
        );
      return loaded;
    },
    async load() {
      loaded ??= await load();
    },
    provide(module) {
      loaded = module;
    },
  };
};

/** The module of each. */
export type ModulesOf<All> = {
  readonly [Name in keyof All]: All[Name] extends Later<infer Module> ? Module : never;
};

/** Other modules have imported all of them. */
export const provideAll = <All extends Readonly<Record<string, Later<unknown>>>>(
  all: All,
  modules: ModulesOf<All>,
): void => {
  for (const [name, each] of Object.entries(all)) each.provide(modules[name]);
};
