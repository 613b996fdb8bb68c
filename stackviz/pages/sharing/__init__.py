"""What others show of this site: previews' pictures, embeds, oEmbed, badges, short addresses, the map. No models."""
