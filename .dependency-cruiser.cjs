const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })
const tests = '[.]test[.]tsx?$|/testing/|^tests/'

module.exports = {
  forbidden: [
    rule('no-circular', 'A circle of imports has no beginning to read from.', {}, { circular: true }),
    rule('no-orphans-unresolved', 'Every import must resolve.', {}, { couldNotResolve: true }),
    rule(
      'core-is-pure',
      'Core has no dependency and no I/O.',
      { path: '^packages/core/src', pathNot: tests },
      { pathNot: '^packages/core/src' },
    ),
    rule('packages-do-not-know-apps', 'apps -> adapters -> core.', { path: '^packages/' }, { path: '^apps/' }),
    rule(
      'adapters-do-not-know-each-other',
      'No adapter imports another.',
      { path: '^packages/(adapters-[a-z]+)/', pathNot: tests },
      { path: '^packages/adapters-', pathNot: '^packages/$1/' },
    ),
    rule(
      'adapters-know-core-only',
      'An adapter knows core and libraries.',
      { path: '^packages/adapters-[a-z]+/', pathNot: tests },
      { path: '^packages/(server|embedded-postgres)/' },
    ),
    rule(
      'carrier-kit-knows-core-only',
      'apps -> adapters -> carrier-kit -> core.',
      { path: '^packages/carrier-kit/', pathNot: tests },
      { path: '^(packages|apps)/', pathNot: '^packages/(carrier-kit|core)/src/' },
    ),
    rule(
      'carrier-kit-is-for-carriers',
      'Only adapters of carriers, and what builds them, use what carriers share.',
      { path: '^(packages|apps)/', pathNot: '^packages/(carrier-kit|carriers|adapters-[a-z]+)/|' + tests },
      { path: '^packages/carrier-kit/' },
    ),
    rule(
      'smpp-knows-nothing',
      'The codec of SMPP has no I/O and imports nothing.',
      { path: '^packages/smpp/src/', pathNot: tests },
      { pathNot: '^packages/smpp/src/' },
    ),
    rule(
      'smsc-simulator-knows-smpp-only',
      'An error of the carrier over SMPP must not be repeated in what it is tested with.',
      { path: '^packages/smsc-simulator/src/', pathNot: tests },
      { path: '^(packages|apps)/', pathNot: '^packages/(smsc-simulator|smpp)/src/' },
    ),
    rule(
      'server-knows-none-of-ours',
      'The server package knows Express and the process, nothing of SMS.',
      { path: '^packages/(server|embedded-postgres)/' },
      { path: '^packages/(core|adapters-[a-z]+)/' },
    ),
    rule(
      'wire-is-for-interfaces',
      'What the interfaces have in common knows core only. Every process answers a path of an interface in its form.',
      {
        path: '^(packages|apps)/',
        pathNot: '^packages/wire/|^apps/(rest|asp|xml|portal|callbacks|dispatcher|operator|smpp)/',
      },
      { path: '^packages/wire/' },
    ),
    rule(
      'wire-knows-core-only',
      'Words and encodings, no I/O of their own.',
      { path: '^packages/wire/', pathNot: tests },
      { path: '^(packages|apps)/', pathNot: '^packages/(wire|core/src)/' },
    ),
    rule(
      'composition-is-for-mains',
      'What an app exports works with whatever ports it is given.',
      { path: '^(packages|apps)/', pathNot: '^packages/composition/|^apps/operator/|/(main|service)[.]ts$|' + tests },
      { path: '^packages/composition/' },
    ),
    rule(
      'wire-apps-use-core-and-server',
      'rest, asp, xml and portal use core, server and wire only, rest the guide too; their main.ts starts the composition.',
      { path: '^apps/(rest|asp|xml|portal)/src/', pathNot: '(main[.]ts|[.]test[.]tsx?)$' },
      { path: '^(packages|apps)/', pathNot: '^packages/(core|server|wire|guide)/src/|^apps/(rest|asp|xml|portal)/' },
    ),
    rule(
      'wire-apps-do-not-know-each-other',
      'Each interface is a service of its own.',
      { path: '^apps/(rest|asp|xml|portal)/' },
      { path: '^apps/', pathNot: '^apps/$1/' },
    ),
    rule(
      'sql-only-in-adapters-postgres',
      'Only the adapter for Postgres and its launcher speak to a database.',
      { path: '^(packages|apps)/', pathNot: '^packages/(adapters-postgres|embedded-postgres)/|' + tests },
      { path: 'node_modules/(pg|kysely)/' },
    ),
    rule(
      'requests-to-strangers-only-in-adapters-webhooks',
      'Only the guarded client sends requests to addresses that strangers name. Carriers are named by the operator.',
      { path: '^(packages|apps)/', pathNot: '^packages/adapters-(webhooks|http)/|' + tests },
      { path: 'node_modules/(undici|ipaddr[.]js)/' },
    ),
    rule(
      'conformance-knows-no-code-of-ours',
      'It asks over HTTP alone, so that it can be asked of any deployment.',
      { path: '^packages/conformance/src/', pathNot: tests },
      { path: '^(packages|apps)/', pathNot: '^packages/conformance/src/' },
    ),
    rule(
      'tests-are-not-imported',
      'Nothing but a test imports test code.',
      { path: '^(packages|apps)/', pathNot: tests },
      { path: tests },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/|/dist-testing/|^packages/guide/assets/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@gateway/source', 'import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'],
    },
  },
}
