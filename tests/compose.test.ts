import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { root } from './support/process.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Variables of the tables of docs/configuration.md. */
const documented = Array.from(read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)`/gm), ([, name = '']) => name)

/** Variables with one value in every container of Compose: the image or the network of the containers fixes them. */
const fixedByCompose = ['HOST', 'PORT', 'ADMIN_PORT', 'DATA_DIR', 'SMPP_PORT', 'SMPP_TLS_PORT', 'DAILY_BACKUP']
const setByCompose = ['DATABASE_URL', 'SECRETS_KEY', 'PUBLIC_URL', 'TRUST_PROXY']

interface Compose {
  readonly services: Readonly<Record<string, { readonly environment?: object }>>
}

const compose = parse(read('deploy/compose.yaml'), { merge: true }) as Compose
const processes = ['rest', 'asp', 'xml', 'portal', 'callbacks', 'dispatcher', 'smpp']

test.each(processes)('each documented variable in the .env of Compose reaches the process %s', (name) => {
  const environment = new Map(Object.entries(compose.services[name]?.environment ?? {}))
  const fromFile = documented.filter((variable) => ![...fixedByCompose, ...setByCompose].includes(variable))
  expect(fromFile.filter((variable) => environment.get(variable) !== `\${${variable}:-}`)).toEqual([])
  expect(setByCompose.filter((variable) => !environment.has(variable))).toEqual([])
  expect([...environment.keys()].filter((variable) => !documented.includes(variable))).toEqual([])
})
