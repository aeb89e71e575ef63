import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** Returns the production sources by their path from the root, with comments removed. */
function production(): ReadonlyMap<string, string> {
  const sources = ['packages', 'apps'].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => filesBelow(`${folder}/${name}/src`)),
  )
  return new Map(sources.map((path) => [path, withoutComments(readFileSync(join(root, path), 'utf8'))]))
}

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'))
    .map((path) => `${folder}/${path}`)

const withoutComments = (source: string): string => source.replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '')

const importsOf = (source: string): readonly string[] =>
  [...source.matchAll(/^import \{([^}]*)\} from '(?:@gateway\/core(?:\/[a-z-]+)?|\.[^']*)'/gm)].flatMap(
    ([, names = '']) => names.split(',').map((name) => name.trim().split(' as ')[0] ?? ''),
  )

/**
 * Returns functions and constants that core exports and that no production code uses. Uses in their own file count too.
 */
function unused(sources: ReadonlyMap<string, string>): readonly string[] {
  const imported = new Set([...sources.values()].flatMap(importsOf))
  return [...sources]
    .filter(([path]) => path.startsWith('packages/core/src/') && !path.endsWith('/index.ts'))
    .flatMap(([path, source]) =>
      [...source.matchAll(/^export (?:async )?(?:const|function|class) (\w+)/gm)]
        .map(([, name = '']) => name)
        .filter((name) => !imported.has(name) && [...source.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length === 1)
        .map((name) => `${path}: ${name}`),
    )
}

test('core exports no rule that production does not use: rules of statements are in contracts/specification', () => {
  const sources = production()
  expect(sources.size).toBeGreaterThan(300)
  expect(unused(sources)).toEqual([])
})

test('an unused rule is found', () => {
  const core = new Map([
    ['packages/core/src/inbox/rule.ts', 'export const isRule = (): boolean => true\n'],
    ['apps/rest/src/use.ts', "import { other } from '@gateway/core'\n"],
  ])
  expect(unused(core)).toEqual(['packages/core/src/inbox/rule.ts: isRule'])
})
