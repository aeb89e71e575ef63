/** For `--findRelatedTests`, which asks without conditions: an import of `@gateway/*` is one of its sources. */
module.exports = (path, options) =>
  options.defaultResolver(path, {
    ...options,
    conditions: options.conditions ?? ['@gateway/source', 'import', 'node', 'default'],
  })
