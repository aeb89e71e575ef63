import { customCleanEnv, EnvMissingError, type OptionalValidatorSpec, type ValidatorSpec } from 'envalid'
import { closestMatch } from 'leven'
import { hideSecrets } from './hide-secrets.ts'

/** envalid's validator of each variable, by name. `desc` says in an error what is expected. */
export type Variables = Record<string, ValidatorSpec<unknown>>

/** The values of `readEnvironment`: exactly the names of `variables`, each with its validator's type. */
export type Environment<V extends Variables> = Readonly<{
  [Name in keyof V]: V[Name] extends OptionalValidatorSpec<infer Value>
    ? Value | undefined
    : V[Name] extends ValidatorSpec<infer Value>
      ? Value
      : never
}>

const SECRET_NAME = /pass|secret|token|key|url|credential/i

/**
 * Reads and validates `variables`; a blank one counts as unset. Throws one Error with a line for each wrong variable,
 * which shows its value unless its name indicates a secret (`…URL`, `…KEY`, `…PASSWORD`, `…TOKEN`).
 */
export const readEnvironment = <const V extends Variables>(
  variables: V,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Environment<V> => {
  const given = Object.fromEntries(
    Object.keys(variables).flatMap((name) => (env[name]?.trim() ? [[name, env[name]]] : [])),
  )
  const reporter = ({ errors }: { errors: Partial<Record<string, Error>> }) => {
    const wrong = Object.entries(errors).map(([name, error]) => errorLine(name, given[name], error, variables[name]))
    if (wrong.length > 0) throw new Error(`The environment cannot be used:\n${wrong.join('\n')}`)
  }
  return customCleanEnv<Variables, Environment<V>>(given, variables, (cleaned) => cleaned as Environment<V>, {
    reporter,
  })
}

const errorLine = (name: string, found: string | undefined, error?: Error, spec?: ValidatorSpec<unknown>): string => {
  const choices = spec?.choices && `one of ${spec.choices.join(', ')}`
  const example = spec?.example && ` (for example ${spec.example})`
  return `  ${name} ${state(name, found, error)}; expected ${spec?.desc ?? choices ?? 'another value'}${example ?? ''}`
}

const state = (name: string, found: string | undefined, error?: Error): string => {
  if (found === undefined) return error instanceof EnvMissingError ? 'is not set' : 'is wrong'
  if (SECRET_NAME.test(name)) return 'is set to something else (its value is not shown)'
  return `is ${JSON.stringify(hideSecrets(found).slice(0, 200))}`
}

/** A variable that nobody reads, and the one that it may be meant for. */
export interface MisspeltVariable {
  readonly name: string
  readonly likely: string
}

/**
 * The variables of an environment that look like `published` ones and are none: one letter is another (two in names of
 * seven or more), or they are not in capital letters. Blank ones count as unset.
 */
export function misspeltVariables(
  env: Readonly<Record<string, string | undefined>>,
  published: readonly string[],
): readonly MisspeltVariable[] {
  const names = Object.keys(env).filter((name) => !published.includes(name) && (env[name] ?? '').trim() !== '')
  return names.toSorted().flatMap((name) => {
    const likely = closestMatch(name.toUpperCase(), published, { maxDistance: lettersOf(name) })
    return likely === undefined ? [] : [{ name, likely }]
  })
}

/** Short names of others, and libpq's own, are near each other. */
const lettersOf = (name: string): number => (name.length < 7 || name.startsWith('PG') ? 1 : 2)
