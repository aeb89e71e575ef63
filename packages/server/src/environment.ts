import { customCleanEnv, EnvMissingError, type OptionalValidatorSpec, type ValidatorSpec } from 'envalid'
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
 * Reads and validates `variables`; a blank one counts as unset. Throws one Error with a line for each wrong variable, which shows its
 * value unless its name indicates a secret (`…URL`, `…KEY`, `…PASSWORD`, `…TOKEN`).
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
