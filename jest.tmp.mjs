import config from './jest.config.mjs'
const { globalSetup, globalTeardown, ...rest } = config
export default rest
