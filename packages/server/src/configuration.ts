// Functions that read the environment, without Express and other modules that only a server needs.
export { readEnvironment, type Environment, type Variables } from './environment.ts'
export { misspeltVariables } from './environment.ts'
export { hideSecrets } from './hide-secrets.ts'
export { readNetwork } from './client-address.ts'
export {
  databaseSettings,
  databaseVariables,
  flag,
  listOf,
  loadSettings,
  loadVariables,
  loginSettings,
  loginVariables,
  oidcSettings,
  oidcVariables,
  optionalPort,
  optionalText,
  optionalUrl,
  processVariables,
  serverUrl,
  serverVariables,
  text,
  wholeNumber,
  type OidcSettings,
} from './variables.ts'
export { certificateEndings, extraAuthorities } from './watch-certificates.ts'
