import { customCleanEnv, EnvMissingError, type OptionalValidatorSpec, type ValidatorSpec } from 'envalid'
import { closestMatch } from 'leven'
import { hideSecrets } from './hide-secrets.ts'

/** Validators of envalid by the name of the variable. Errors show `desc` as the expected value. */
export type Variables = Record<string, ValidatorSpec<unknown>>

/** Values that `readEnvironment` returns: the names of `variables`, each with the type of its validator. */
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
  const values = Object.fromEntries(
    Object.keys(variables).flatMap((name) => (env[name]?.trim() ? [[name, env[name]]] : [])),
  )
  const reporter = ({ errors }: { errors: Partial<Record<string, Error>> }) => {
    const wrong = Object.entries(errors).map(([name, error]) => errorLine(name, values[name], error, variables[name]))
    if (wrong.length > 0) throw new Error(`The environment cannot be used:\n${wrong.join('\n')}`)
  }
  return customCleanEnv<Variables, Environment<V>>(values, variables, (cleaned) => cleaned as Environment<V>, {
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

/** Variable that nothing reads, with the variable that was probably meant instead. */
export interface MisspeltVariable {
  readonly name: string
  readonly likely: string
}

/**
 * Returns the variables of an environment that resemble one of the `published` variables but differ from it in one
 * letter (two in names of seven or more letters) or in upper and lower case. Blank variables count as unset.
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

/**
 * Returns in how many letters a name may differ. Only one in short names and in libpq's own names (PG…), because these
 * often resemble correct names of other variables.
 */
const lettersOf = (name: string): number => (name.length < 7 || name.startsWith('PG') ? 1 : 2)
