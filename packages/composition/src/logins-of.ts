import type { NodeSecretsSettings } from '@gateway/adapters-node'
import { loginSettings, warnOfFailedLogins } from '@gateway/server'
import type { LifeWith } from './open-ports.ts'

/** How a process checks passwords: by its environment, with a warning of log-ins that fail. */
export const loginsOf = ({
  environment,
  log,
}: Pick<LifeWith<Parameters<typeof loginSettings>[0]>, 'environment' | 'log'>): NodeSecretsSettings => ({
  ...loginSettings(environment),
  reportFailures: warnOfFailedLogins(log),
})
