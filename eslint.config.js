import js from '@eslint/js'
import tseslint from 'typescript-eslint'
import { plainEnglish } from './scripts/plain-english.mjs'

const names = [{ selector: 'ExportDefaultDeclaration', message: 'Named exports only.' }]

const everywhere = [
  ...names,
  { selector: 'ExportAllDeclaration', message: 'Name each export; only the index of a concept exports whole files.' },
]

const inCore = [
  ...everywhere,
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Time is an argument.',
  },
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'Time is an argument.' },
  {
    selector: "CallExpression[callee.object.name='Math'][callee.property.name='random']",
    message: 'Chance is a port.',
  },
]

export default tseslint.config(
  { ignores: ['**/dist/', '**/dist-testing/', '**/node_modules/', 'data/', 'release/', 'benchmarks/results/'] },
  {
    files: ['**/*.{mjs,cjs,js}'],
    extends: [js.configs.recommended],
    languageOptions: {
      globals: {
        ...{ process: 'readonly', console: 'readonly', module: 'writable', require: 'readonly' },
        ...{ URL: 'readonly', fetch: 'readonly', setTimeout: 'readonly' },
      },
    },
  },
  {
    files: ['apps/portal/assets/*.js', 'packages/guide/assets/*.js'],
    languageOptions: {
      globals: {
        ...{ document: 'readonly', location: 'readonly', addEventListener: 'readonly', performance: 'readonly' },
        ...{ EventSource: 'readonly', DOMParser: 'readonly', Intl: 'readonly', matchMedia: 'readonly' },
        ...{ FormData: 'readonly', URLSearchParams: 'readonly', fetch: 'readonly' },
      },
    },
  },
  {
    // The other rules of theirs are in `.oxlintrc.json`.
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parser: tseslint.parser },
    rules: {
      'no-restricted-syntax': ['error', ...everywhere],
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^@gateway/(?!core/[a-z-]+$)[a-z-]+/(?!(?:testing|configuration|early-signals|main|version)$)',
              message: 'Import what a package exports, nothing deeper.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['packages/core/src/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: { 'no-restricted-syntax': ['error', ...inCore] },
  },
  {
    // The entry points of core: @gateway/core/messages and so on.
    files: ['packages/core/src/*/index.ts'],
    rules: { 'no-restricted-syntax': ['error', ...names] },
  },
  {
    files: ['**/*.{ts,tsx,js,mjs,cjs}'],
    rules: {
      'max-len': [
        'error',
        {
          code: 120,
          ...{ ignoreUrls: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true, ignoreStrings: true },
          ignorePattern: '(?:es|ox)lint-disable',
        },
      ],
    },
  },
  {
    files: ['**/*.{ts,tsx,mjs}'],
    plugins: { 'plain-english': plainEnglish },
    rules: { 'plain-english/comment-has-subject': 'error', 'plain-english/name-is-noun': 'error' },
  },
  {
    files: ['eslint.config.js', 'jest.config.mjs', 'scripts/slow-tests-first.mjs', '**/*.cjs'],
    rules: { 'no-restricted-syntax': 'off' },
  },
)
