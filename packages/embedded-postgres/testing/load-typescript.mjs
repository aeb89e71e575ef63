import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { transform } from '@swc/core'

/** Loads TypeScript sources, so that a process started by a test never runs an old build. */
export const load = async (url, context, next) => {
  if (!url.endsWith('.ts')) return next(url, context)
  const source = await readFile(fileURLToPath(url), 'utf8')
  const { code } = await transform(source, { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } })
  return { format: 'module', source: code, shortCircuit: true }
}
