"""Device memory that is used again: storage buffers, staging buffers, bind groups."""
