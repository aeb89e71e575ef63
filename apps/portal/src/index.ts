export { createPortalServer, portalNotFound, portalRouter } from './router.ts'
export type { PortalServerSettings, PortalSettings } from './serving.ts'
