# The image for every platform, with an SBOM and provenance:
#   docker buildx bake -f docker-bake.hcl --push          REGISTRY=registry.example/annals VERSION=1.2.3 REVISION=$(git rev-parse HEAD)
#   docker buildx bake -f docker-bake.hcl local           for this machine only, as `annals`
# Name this file, because bake would also read docker-compose.yml, which needs .env.
variable "REGISTRY" { default = "annals" }
variable "VERSION" { default = "0.2.0" }
variable "REVISION" { default = "" }
# The address of the repository.
variable "SOURCE" { default = "" }

group "default" { targets = ["annals"] }

target "local" {
  tags = ["annals"]
}

target "annals" {
  platforms = ["linux/amd64", "linux/arm64"]
  tags = ["${REGISTRY}:${VERSION}"]
  labels = {
    "org.opencontainers.image.version"  = VERSION
    "org.opencontainers.image.revision" = REVISION
    "org.opencontainers.image.source"   = SOURCE
  }
  attest = ["type=sbom", "type=provenance,mode=max"]
}
